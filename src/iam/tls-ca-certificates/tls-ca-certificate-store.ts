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

/** Changes the given fields and returns the certificate as it is afterwards. */
export function updateTlsCaCertificate(
  tx: Tx,
  address: Address,
  change: Partial<Pick<TlsCaCertificate, 'displayName' | 'pem' | 'subjectHash'>>,
): Promise<TlsCaCertificate | undefined> {
  return changeRow(tx, CERTIFICATE, KEY, ['displayName', 'pem', 'subjectHash'], { ...change, ...address });
}

/** Deletes a certificate and returns what it was. */
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
});

/** Authorities of these names in every tenancy that the transaction may read; at most `limit`. */
export async function findAuthorities(
  tx: Tx,
  subjectHashes: readonly Uint8Array[],
  limit: number,
): Promise<{ tenantId: string; pem: string }[]> {
  return tx.query(
    `SELECT c.tenant_id AS "tenantId", c.pem FROM archivist.tls_ca_certificate c
      WHERE c.subject_hash = ANY ($1::bytea[]) ORDER BY c.certificate_id LIMIT $2`,
    [subjectHashes, limit],
  );
}
