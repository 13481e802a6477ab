import { rowList } from '../../platform/listing/row-list-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Subject, SubjectKeys } from './subject.js';

interface SubjectRow {
  tenant_id: string;
  subject_id: string;
  display_name: string;
  wallet_pub_key: string[];
  wallet_address: string[];
  tessera_pub_key: string[];
  created_at: Date;
}

interface SubjectAddress {
  readonly tenantId: string;
  readonly subjectId: string;
}

const COLUMNS = `s.tenant_id, s.subject_id, s.display_name, s.wallet_pub_key, s.wallet_address, s.tessera_pub_key,
  s.created_at`;

export async function insertSubject(tx: Tx, subject: Subject): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.subject (tenant_id, subject_id, display_name, wallet_pub_key, wallet_address,
       tessera_pub_key, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      subject.tenantId,
      subject.subjectId,
      subject.displayName,
      subject.walletPubKeys,
      subject.walletAddresses,
      subject.tesseraPubKeys,
      subject.createdAt,
    ],
  );
  await insertWallets(tx, subject, subject.walletAddresses);
}

export async function findSubject(tx: Tx, address: SubjectAddress): Promise<Subject | undefined> {
  const [row] = await tx.query<SubjectRow>(
    `SELECT ${COLUMNS} FROM archivist.subject s WHERE s.tenant_id = $1 AND s.subject_id = $2`,
    [address.tenantId, address.subjectId],
  );
  return row && subjectOf(row);
}

/** The subject, locked against other changes until the transaction ends. */
export async function lockSubject(tx: Tx, address: SubjectAddress): Promise<Subject | undefined> {
  const [row] = await tx.query<SubjectRow>(
    `SELECT ${COLUMNS} FROM archivist.subject s WHERE s.tenant_id = $1 AND s.subject_id = $2 FOR UPDATE`,
    [address.tenantId, address.subjectId],
  );
  return row && subjectOf(row);
}

/** Replaces name and keys. */
export async function updateSubject(
  tx: Tx,
  address: SubjectAddress,
  subject: SubjectKeys & { readonly displayName: string },
): Promise<void> {
  await tx.execute(
    `UPDATE archivist.subject s SET display_name = $3, wallet_pub_key = $4, wallet_address = $5, tessera_pub_key = $6
      WHERE s.tenant_id = $1 AND s.subject_id = $2`,
    [
      address.tenantId,
      address.subjectId,
      subject.displayName,
      subject.walletPubKeys,
      subject.walletAddresses,
      subject.tesseraPubKeys,
    ],
  );
  await tx.execute('DELETE FROM archivist.subject_wallet WHERE tenant_id = $1 AND subject_id = $2', [
    address.tenantId,
    address.subjectId,
  ]);
  await insertWallets(tx, address, subject.walletAddresses);
}

export async function deleteSubjectRow(tx: Tx, address: SubjectAddress): Promise<void> {
  await tx.execute('DELETE FROM archivist.subject WHERE tenant_id = $1 AND subject_id = $2', [
    address.tenantId,
    address.subjectId,
  ]);
}

/** Conditions refer to a row as `s`. */
export const subjectRows = rowList<SubjectRow, Subject>({
  from: 'archivist.subject s',
  columns: COLUMNS,
  idColumn: 's.subject_id',
  idOf: ({ subjectId }) => subjectId,
  nameColumn: 's.display_name',
  nameOf: (entry) => entry.displayName,
  entryOf: subjectOf,
});

async function insertWallets(tx: Tx, address: SubjectAddress, walletAddresses: readonly string[]): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.subject_wallet (tenant_id, wallet_address, subject_id)
     SELECT DISTINCT $1::uuid, wallet, $2::uuid FROM unnest($3::text[]) AS wallet`,
    [address.tenantId, address.subjectId, walletAddresses],
  );
}

function subjectOf(row: SubjectRow): Subject {
  return {
    tenantId: row.tenant_id,
    subjectId: row.subject_id,
    displayName: row.display_name,
    walletPubKeys: row.wallet_pub_key,
    walletAddresses: row.wallet_address,
    tesseraPubKeys: row.tessera_pub_key,
    createdAt: row.created_at,
  };
}
