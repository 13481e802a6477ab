import type { Tx } from '../../platform/postgres/database.js';

interface SessionRow {
  readonly tenantId: string;
  readonly sessionHash: Uint8Array;
  readonly memberId: string;
  /** As the provider reported them at the sign-in. */
  readonly groups: readonly string[];
  readonly openedAt: Date;
  readonly expiresAt: Date;
}

export async function insertSession(tx: Tx, session: SessionRow): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.member_session (tenant_id, session_hash, member_id, groups, used_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [session.tenantId, session.sessionHash, session.memberId, session.groups, session.openedAt, session.expiresAt],
  );
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

/**
 * The member of a session that has not expired and was used since `usedSince`, if the member is active, the tenancy is
 * enabled and it still trusts the provider of the sign-in; in any tenancy that the transaction may read.
 */
export async function findSessionMember(
  tx: Tx,
  sessionHash: Uint8Array,
  { now, usedSince }: { readonly now: Date; readonly usedSince: Date },
): Promise<SessionMember | undefined> {
  const [row] = await tx.query<{
    tenant_id: string;
    issuer: string;
    subject: string;
    display_name: string;
    email: string;
    roles: string[];
    groups: string[];
    member_id: string;
    used_at: Date;
  }>(
    `SELECT m.tenant_id, m.issuer, m.subject, m.display_name, m.email, m.roles, s.groups, m.member_id, s.used_at
       FROM archivist.member_session s
       JOIN archivist.member m ON m.tenant_id = s.tenant_id AND m.member_id = s.member_id
       JOIN archivist.tenancy t ON t.tenant_id = s.tenant_id
       JOIN archivist.identity_provider p ON p.tenant_id = s.tenant_id AND p.issuer = m.issuer
      WHERE s.session_hash = $1 AND s.expires_at > $2 AND s.used_at > $3
        AND m.active AND t.disabled_at IS NULL AND p.enabled`,
    [sessionHash, now, usedSince],
  );
  return (
    row && {
      tenantId: row.tenant_id,
      issuer: row.issuer,
      subject: row.subject,
      displayName: row.display_name,
      email: row.email,
      roles: row.roles,
      groups: row.groups,
      memberId: row.member_id,
      usedAt: row.used_at,
    }
  );
}

export async function touchSession(tx: Tx, sessionHash: Uint8Array, now: Date): Promise<void> {
  await tx.execute('UPDATE archivist.member_session SET used_at = $2 WHERE session_hash = $1', [sessionHash, now]);
}

export async function deleteSession(tx: Tx, sessionHash: Uint8Array): Promise<void> {
  await tx.execute('DELETE FROM archivist.member_session WHERE session_hash = $1', [sessionHash]);
}

export async function deleteSessionsOfMember(tx: Tx, tenantId: string, memberId: string): Promise<void> {
  await tx.execute('DELETE FROM archivist.member_session WHERE tenant_id = $1 AND member_id = $2', [
    tenantId,
    memberId,
  ]);
}

/** Ends every session of a tenancy, or only those that have expired by the given time. */
export async function deleteSessionsOfTenancy(tx: Tx, tenantId: string, expiredBy?: Date): Promise<void> {
  await tx.execute(
    'DELETE FROM archivist.member_session WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR expires_at <= $2)',
    [tenantId, expiredBy ?? null],
  );
}
