import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { deleteRow, findRow } from '../../platform/postgres/rows-by-key.js';
import type { Invite } from './invite.js';

const INVITE = table('invite').columns<Invite>({
  tenantId: 'tenant_id',
  inviteId: 'invite_id',
  email: 'email',
  message: 'message',
  expiryTime: 'expiry_time',
  createdAt: 'created_at',
});
const KEY = ['tenantId', 'inviteId'] as const;
const NEW_INVITE = table('invite').columns<Invite & { readonly tokenHash: Uint8Array }>({
  ...INVITE.of,
  tokenHash: 'token_hash',
});
const COLUMNS = selected(INVITE, 'i');

export async function insertInvite(tx: Tx, invite: Invite, tokenHash: Uint8Array): Promise<void> {
  await insertRows(tx, NEW_INVITE, [{ ...invite, tokenHash }]);
}

export function findInvite(tx: Tx, tenantId: string, inviteId: string): Promise<Invite | undefined> {
  return findRow(tx, INVITE, KEY, { tenantId, inviteId });
}

/** The unexpired invite of a link, in any tenancy that the transaction may read. */
export async function findInviteByToken(tx: Tx, tokenHash: Uint8Array, now: Date): Promise<Invite | undefined> {
  const [row] = await tx.query<Invite>(
    `SELECT ${COLUMNS} FROM archivist.invite i WHERE i.token_hash = $1 AND i.expiry_time > $2`,
    [tokenHash, now],
  );
  return row;
}

/** Deletes and returns the invite of a link; of two concurrent calls, one gets it. */
export async function takeInvite(
  tx: Tx,
  tenantId: string,
  tokenHash: Uint8Array,
  now: Date,
): Promise<Invite | undefined> {
  const [row] = await tx.query<Invite>(
    `DELETE FROM archivist.invite i WHERE i.tenant_id = $1 AND i.token_hash = $2 AND i.expiry_time > $3
     RETURNING ${COLUMNS}`,
    [tenantId, tokenHash, now],
  );
  return row;
}

/** The deleted invite; undefined if it did not exist. */
export function deleteInviteRow(tx: Tx, tenantId: string, inviteId: string): Promise<Invite | undefined> {
  return deleteRow(tx, INVITE, KEY, { tenantId, inviteId });
}

/** When the newest invite to an address was created. */
export async function newestInviteTo(tx: Tx, tenantId: string, email: string): Promise<Date | undefined> {
  const [row] = await tx.query<{ newest: Date | null }>(
    'SELECT max(created_at) AS newest FROM archivist.invite WHERE tenant_id = $1 AND lower(email) = lower($2)',
    [tenantId, email],
  );
  return row?.newest ?? undefined;
}

/** Deletes the invites to the address of this one that were created before it. */
export async function deleteEarlierInvites(tx: Tx, { tenantId, email, createdAt }: Invite): Promise<void> {
  await tx.execute(
    'DELETE FROM archivist.invite WHERE tenant_id = $1 AND lower(email) = lower($2) AND created_at < $3',
    [tenantId, email, createdAt],
  );
}

/** All invites to an address, in upper or lower case. */
export async function deleteInvitesTo(tx: Tx, tenantId: string, email: string): Promise<void> {
  await tx.execute('DELETE FROM archivist.invite WHERE tenant_id = $1 AND lower(email) = lower($2)', [tenantId, email]);
}

/** Deletes the invites of all tenancies that expired before a time. Resolves with their number. */
export function deleteExpiredInvites(tx: Tx, before: Date): Promise<number> {
  return tx.execute('DELETE FROM archivist.invite WHERE expiry_time < $1', [before]);
}

/** Conditions refer to a row as `i`. */
export const inviteRows = rowList<Invite>({
  from: 'archivist.invite i',
  columns: COLUMNS,
  large: ['message'],
  idColumn: 'i.invite_id',
  idOf: ({ inviteId }) => inviteId,
  nameColumn: 'i.email',
  nameOf: ({ email }) => email,
});
