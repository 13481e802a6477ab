import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { deleteRows, updateRows } from '../../platform/postgres/rows-by-key.js';

interface SessionRow {
  readonly tenantId: string;
  readonly sessionHash: Uint8Array;
  readonly memberId: string;
  /** As the provider reported them at the sign-in. */
  readonly groups: readonly string[];
  readonly usedAt: Date;
  readonly expiresAt: Date;
}

const SESSION = table('member_session').columns<SessionRow>({
  tenantId: 'tenant_id',
  sessionHash: 'session_hash',
  memberId: 'member_id',
  groups: 'groups',
  usedAt: 'used_at',
  expiresAt: 'expires_at',
});

export async function insertSession(tx: Tx, session: SessionRow): Promise<void> {
  await insertRows(tx, SESSION, [session]);
}

/** The member whose session it is. */
interface SessionMember {
  readonly tenantId: string;
  readonly issuer: string;
  readonly subject: string;
  readonly displayName: string;
  readonly email: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  readonly memberId: string;
  /** When the session was last used, to the minute. */
  readonly usedAt: Date;
}

const MEMBER = table('member').columns<Omit<SessionMember, 'groups' | 'usedAt'>>({
  tenantId: 'tenant_id',
  issuer: 'issuer',
  subject: 'subject',
  displayName: 'display_name',
  email: 'email',
  roles: 'roles',
  memberId: 'member_id',
});
const IN_SESSION = table('member_session').columns<Pick<SessionMember, 'groups' | 'usedAt'>>({
  groups: 'groups',
  usedAt: 'used_at',
});

/**
 * The member of a session that has not expired and was used since `usedSince`, if the member is active, the tenancy is
 * enabled and it still trusts the provider of the sign-in; in any tenancy that the transaction may read.
 */
export async function findSessionMember(
  tx: Tx,
  sessionHash: Uint8Array,
  { now, usedSince }: { readonly now: Date; readonly usedSince: Date },
): Promise<SessionMember | undefined> {
  const [member] = await tx.query<SessionMember>(
    `SELECT ${selected(MEMBER, 'm')}, ${selected(IN_SESSION, 's')}
       FROM archivist.member_session s
       JOIN archivist.member m ON m.tenant_id = s.tenant_id AND m.member_id = s.member_id
       JOIN archivist.tenancy t ON t.tenant_id = s.tenant_id
       JOIN archivist.identity_provider p ON p.tenant_id = s.tenant_id AND p.issuer = m.issuer
      WHERE s.session_hash = $1 AND s.expires_at > $2 AND s.used_at > $3
        AND m.active AND t.disabled_at IS NULL AND p.enabled`,
    [sessionHash, now, usedSince],
  );
  return member;
}

export async function touchSession(tx: Tx, sessionHash: Uint8Array, now: Date): Promise<void> {
  await updateRows(tx, SESSION, ['sessionHash'], ['usedAt'], { sessionHash, usedAt: now });
}

export async function deleteSession(tx: Tx, sessionHash: Uint8Array): Promise<void> {
  await deleteRows(tx, SESSION, ['sessionHash'], { sessionHash });
}

export async function deleteSessionsOfMember(tx: Tx, tenantId: string, memberId: string): Promise<void> {
  await deleteRows(tx, SESSION, ['tenantId', 'memberId'], { tenantId, memberId });
}

/** Ends every session of a tenancy, or only those that have expired by the given time. */
export async function deleteSessionsOfTenancy(tx: Tx, tenantId: string, expiredBy?: Date): Promise<void> {
  await tx.execute(
    'DELETE FROM archivist.member_session WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR expires_at <= $2)',
    [tenantId, expiredBy ?? null],
  );
}
