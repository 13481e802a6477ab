import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import type { Subject, SubjectKeys } from './subject.js';

interface SubjectAddress {
  readonly tenantId: string;
  readonly subjectId: string;
}

const SUBJECT = table('subject').columns<Subject>({
  tenantId: 'tenant_id',
  subjectId: 'subject_id',
  displayName: 'display_name',
  walletPubKeys: 'wallet_pub_key',
  walletAddresses: 'wallet_address',
  tesseraPubKeys: 'tessera_pub_key',
  createdAt: 'created_at',
});
const WALLET = table('subject_wallet').columns<SubjectAddress & { readonly walletAddress: string }>({
  tenantId: 'tenant_id',
  walletAddress: 'wallet_address',
  subjectId: 'subject_id',
});
const COLUMNS = selected(SUBJECT, 's');

export async function insertSubject(tx: Tx, subject: Subject): Promise<void> {
  await insertRows(tx, SUBJECT, [subject]);
  await insertWallets(tx, subject, subject.walletAddresses);
}

export async function findSubject(tx: Tx, address: SubjectAddress): Promise<Subject | undefined> {
  const [row] = await tx.query<Subject>(
    `SELECT ${COLUMNS} FROM archivist.subject s WHERE s.tenant_id = $1 AND s.subject_id = $2`,
    [address.tenantId, address.subjectId],
  );
  return row;
}

/** The subject, locked against other changes until the transaction ends. */
export async function lockSubject(tx: Tx, address: SubjectAddress): Promise<Subject | undefined> {
  const [row] = await tx.query<Subject>(
    `SELECT ${COLUMNS} FROM archivist.subject s WHERE s.tenant_id = $1 AND s.subject_id = $2 FOR UPDATE`,
    [address.tenantId, address.subjectId],
  );
  return row;
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
export const subjectRows = rowList<Subject>({
  from: 'archivist.subject s',
  columns: COLUMNS,
  large: ['walletPubKeys', 'walletAddresses', 'tesseraPubKeys'],
  idColumn: 's.subject_id',
  idOf: ({ subjectId }) => subjectId,
  nameColumn: 's.display_name',
  nameOf: (entry) => entry.displayName,
});

async function insertWallets(tx: Tx, address: SubjectAddress, walletAddresses: readonly string[]): Promise<void> {
  await insertRows(
    tx,
    WALLET,
    [...new Set(walletAddresses)].map((walletAddress) => ({ ...address, walletAddress })),
  );
}
