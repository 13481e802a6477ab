import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { changeRow, deleteRow, findRow } from '../../platform/postgres/rows-by-key.js';
import type { TlsCaCertificate } from './tls-ca-certificate.js';

type Address = Pick<TlsCaCertificate, 'tenantId' | 'certificateId'>;

const CERTIFICATE = table('tls_ca_certificate').columns<TlsCaCertificate>({
  tenantId: 'tenant_id',
  certificateId: 'certificate_id',
  displayName: 'display_name',
  pem: 'pem',
  subjectHash: 'subject_hash',
  createdAt: 'created_at',
});
const KEY = ['tenantId', 'certificateId'] as const;
/** Conditions of a list refer to the table as `c`. */
const COLUMNS = selected(CERTIFICATE, 'c');

export async function insertTlsCaCertificate(tx: Tx, certificate: TlsCaCertificate): Promise<void> {
  await insertRows(tx, CERTIFICATE, [certificate]);
}

export function findTlsCaCertificate(tx: Tx, address: Address): Promise<TlsCaCertificate | undefined> {
  return findRow(tx, CERTIFICATE, KEY, address);
}

/** Changes the given fields and returns the changed certificate. */
export function updateTlsCaCertificate(
  tx: Tx,
  address: Address,
  change: Partial<Pick<TlsCaCertificate, 'displayName' | 'pem' | 'subjectHash'>>,
): Promise<TlsCaCertificate | undefined> {
  return changeRow(tx, CERTIFICATE, KEY, ['displayName', 'pem', 'subjectHash'], { ...change, ...address });
}

/** Deletes a certificate and returns the deleted certificate. */
export function deleteTlsCaCertificateRow(tx: Tx, address: Address): Promise<TlsCaCertificate | undefined> {
  return deleteRow(tx, CERTIFICATE, KEY, address);
}

/** Conditions refer to a row as `c`. */
export const tlsCaCertificateRows = rowList<TlsCaCertificate>({
  from: 'archivist.tls_ca_certificate c',
  columns: COLUMNS,
  large: ['pem'],
  idColumn: 'c.certificate_id',
  idOf: ({ certificateId }) => certificateId,
  nameColumn: 'c.display_name',
  nameOf: ({ displayName }) => displayName,
});

/**
 * Authorities of these names in every enabled tenancy that the transaction may read, or in one. At most `limit` of each
 * tenancy, so that no tenancy hides an authority of another.
 */
export async function findAuthorities(
  tx: Tx,
  subjectHashes: readonly Uint8Array[],
  { tenantId, limit }: { readonly tenantId: string | undefined; readonly limit: number },
): Promise<{ tenantId: string; pem: string }[]> {
  return tx.query(
    `SELECT a.tenant_id AS "tenantId", a.pem
       FROM (SELECT c.tenant_id, c.pem,
                    row_number() OVER (PARTITION BY c.tenant_id ORDER BY c.certificate_id) AS place
               FROM archivist.tls_ca_certificate c
               JOIN archivist.tenancy t ON t.tenant_id = c.tenant_id AND t.disabled_at IS NULL
              WHERE c.subject_hash = ANY ($1::bytea[]) AND ($2::uuid IS NULL OR c.tenant_id = $2)) a
      WHERE a.place <= $3`,
    [subjectHashes, tenantId ?? null, limit],
  );
}
