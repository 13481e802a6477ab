import { rowList } from '../../platform/listing/row-list-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Invite } from './invite.js';

interface InviteRow {
  tenant_id: string;
  invite_id: string;
  email: string;
  message: string;
  expiry_time: Date;
  created_at: Date;
}

const COLUMNS = 'i.tenant_id, i.invite_id, i.email, i.message, i.expiry_time, i.created_at';

export async function insertInvite(tx: Tx, invite: Invite, tokenHash: Uint8Array): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.invite (tenant_id, invite_id, email, message, token_hash, expiry_time, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [invite.tenantId, invite.inviteId, invite.email, invite.message, tokenHash, invite.expiryTime, invite.createdAt],
  );
}

export async function findInvite(tx: Tx, tenantId: string, inviteId: string): Promise<Invite | undefined> {
  const [row] = await tx.query<InviteRow>(
    `SELECT ${COLUMNS} FROM archivist.invite i WHERE i.tenant_id = $1 AND i.invite_id = $2`,
    [tenantId, inviteId],
  );
  return row && inviteOf(row);
}

/** The unexpired invite of a link, in any tenancy that the transaction may read. */
export async function findInviteByToken(tx: Tx, tokenHash: Uint8Array, now: Date): Promise<Invite | undefined> {
  const [row] = await tx.query<InviteRow>(
    `SELECT ${COLUMNS} FROM archivist.invite i WHERE i.token_hash = $1 AND i.expiry_time > $2`,
    [tokenHash, now],
  );
  return row && inviteOf(row);
}

/** Deletes and returns the invite of a link; of two concurrent calls, one gets it. */
export async function takeInvite(
  tx: Tx,
  tenantId: string,
  tokenHash: Uint8Array,
  now: Date,
): Promise<Invite | undefined> {
  const [row] = await tx.query<InviteRow>(
    `DELETE FROM archivist.invite i WHERE i.tenant_id = $1 AND i.token_hash = $2 AND i.expiry_time > $3
     RETURNING ${COLUMNS}`,
    [tenantId, tokenHash, now],
  );
  return row && inviteOf(row);
}

/** The deleted invite; undefined if it did not exist. */
export async function deleteInviteRow(tx: Tx, tenantId: string, inviteId: string): Promise<Invite | undefined> {
  const [row] = await tx.query<InviteRow>(
    `DELETE FROM archivist.invite i WHERE i.tenant_id = $1 AND i.invite_id = $2 RETURNING ${COLUMNS}`,
    [tenantId, inviteId],
  );
  return row && inviteOf(row);
}

/** All invites to an address, in upper or lower case. */
export async function deleteInvitesTo(tx: Tx, tenantId: string, email: string): Promise<void> {
  await tx.execute('DELETE FROM archivist.invite WHERE tenant_id = $1 AND lower(email) = lower($2)', [tenantId, email]);
}

/** Conditions refer to a row as `i`. */
export const inviteRows = rowList<InviteRow, Invite>({
  from: 'archivist.invite i',
  columns: COLUMNS,
  idColumn: 'i.invite_id',
  idOf: ({ inviteId }) => inviteId,
  entryOf: inviteOf,
});

function inviteOf(row: InviteRow): Invite {
  return {
    tenantId: row.tenant_id,
    inviteId: row.invite_id,
    email: row.email,
    message: row.message,
    expiryTime: row.expiry_time,
    createdAt: row.created_at,
  };
}
