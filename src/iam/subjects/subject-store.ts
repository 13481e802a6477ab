import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { deleteRows, findRow, updateRows } from '../../platform/postgres/rows-by-key.js';
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
const KEY = ['tenantId', 'subjectId'] as const;
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

/** Number of subjects that the tenancy has. */
export async function countSubjects(tx: Tx, tenantId: string): Promise<number> {
  const [row] = await tx.query<{ total: bigint }>(
    'SELECT count(*) AS total FROM archivist.subject WHERE tenant_id = $1',
    [tenantId],
  );
  return Number(row?.total ?? 0);
}

export function findSubject(tx: Tx, address: SubjectAddress): Promise<Subject | undefined> {
  return findRow(tx, SUBJECT, KEY, address);
}

/** The subject, locked against other changes until the transaction ends. */
export function lockSubject(tx: Tx, address: SubjectAddress): Promise<Subject | undefined> {
  return findRow(tx, SUBJECT, KEY, address, 'FOR UPDATE');
}

/** Replaces name and keys. */
export async function updateSubject(
  tx: Tx,
  address: SubjectAddress,
  subject: SubjectKeys & { readonly displayName: string },
): Promise<void> {
  const changed = ['displayName', 'walletPubKeys', 'walletAddresses', 'tesseraPubKeys'] as const;
  await updateRows(tx, SUBJECT, KEY, changed, { ...subject, ...address });
  await deleteRows(tx, WALLET, KEY, address);
  await insertWallets(tx, address, subject.walletAddresses);
}

export async function deleteSubjectRow(tx: Tx, address: SubjectAddress): Promise<void> {
  await deleteRows(tx, SUBJECT, KEY, address);
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
