import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
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
/** Conditions of a list refer to the table as `c`. */
const COLUMNS = selected(CERTIFICATE, 'c');

export async function insertTlsCaCertificate(tx: Tx, certificate: TlsCaCertificate): Promise<void> {
  await insertRows(tx, CERTIFICATE, [certificate]);
}

export async function findTlsCaCertificate(tx: Tx, address: Address): Promise<TlsCaCertificate | undefined> {
  const [row] = await tx.query<TlsCaCertificate>(
    `SELECT ${COLUMNS} FROM archivist.tls_ca_certificate c WHERE c.tenant_id = $1 AND c.certificate_id = $2`,
    [address.tenantId, address.certificateId],
  );
  return row;
}

/** Changes the given fields and returns the certificate as it is afterwards. */
export async function updateTlsCaCertificate(
  tx: Tx,
  address: Address,
  change: Partial<Pick<TlsCaCertificate, 'displayName' | 'pem' | 'subjectHash'>>,
): Promise<TlsCaCertificate | undefined> {
  const [row] = await tx.query<TlsCaCertificate>(
    `UPDATE archivist.tls_ca_certificate c SET display_name = coalesce($3, c.display_name), pem = coalesce($4, c.pem),
        subject_hash = coalesce($5, c.subject_hash)
      WHERE c.tenant_id = $1 AND c.certificate_id = $2 RETURNING ${COLUMNS}`,
    [
      address.tenantId,
      address.certificateId,
      change.displayName ?? null,
      change.pem ?? null,
      change.subjectHash ?? null,
    ],
  );
  return row;
}

/** Deletes a certificate and returns what it was. */
export async function deleteTlsCaCertificateRow(tx: Tx, address: Address): Promise<TlsCaCertificate | undefined> {
  const [row] = await tx.query<TlsCaCertificate>(
    `DELETE FROM archivist.tls_ca_certificate c WHERE c.tenant_id = $1 AND c.certificate_id = $2 RETURNING ${COLUMNS}`,
    [address.tenantId, address.certificateId],
  );
  return row;
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
