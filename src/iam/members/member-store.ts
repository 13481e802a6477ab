import { rowList } from '../../platform/listing/row-list-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Member } from './member.js';

interface MemberRow {
  tenant_id: string;
  member_id: string;
  issuer: string;
  subject: string;
  display_name: string;
  email: string;
  roles: string[];
  active: boolean;
  created_at: Date;
}

const COLUMNS = `m.tenant_id, m.member_id, m.issuer, m.subject, m.display_name, m.email, m.roles, m.active,
  m.created_at`;

export async function insertMember(tx: Tx, member: Member): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.member (tenant_id, member_id, issuer, subject, display_name, email, roles, active, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      member.tenantId,
      member.memberId,
      member.issuer,
      member.subject,
      member.displayName,
      member.email,
      member.roles,
      member.active,
      member.createdAt,
    ],
  );
}

export async function findMember(tx: Tx, tenantId: string, memberId: string): Promise<Member | undefined> {
  const [row] = await tx.query<MemberRow>(
    `SELECT ${COLUMNS} FROM archivist.member m WHERE m.tenant_id = $1 AND m.member_id = $2`,
    [tenantId, memberId],
  );
  return row && memberOf(row);
}

/** The member of a tenancy with this issuer and subject, active or not. */
export async function findMemberBySubject(
  tx: Tx,
  tenantId: string,
  principal: { readonly issuer: string; readonly subject: string },
): Promise<Member | undefined> {
  const [row] = await tx.query<MemberRow>(
    `SELECT ${COLUMNS} FROM archivist.member m WHERE m.tenant_id = $1 AND m.issuer = $2 AND m.subject = $3`,
    [tenantId, principal.issuer, principal.subject],
  );
  return row && memberOf(row);
}

/** Roles of an active member, locked against changes until the transaction ends. */
export async function lockMemberRoles(
  tx: Tx,
  tenantId: string,
  principal: { readonly issuer: string; readonly subject: string },
): Promise<readonly string[] | undefined> {
  const [row] = await tx.query<{ roles: string[] }>(
    `SELECT roles FROM archivist.member WHERE tenant_id = $1 AND issuer = $2 AND subject = $3 AND active FOR SHARE`,
    [tenantId, principal.issuer, principal.subject],
  );
  return row?.roles;
}

/**
 * The active member with this issuer and subject in the named tenancies; of several, the one with the longest
 * membership.
 */
export async function findMemberAcross(
  tx: Tx,
  principal: { readonly issuer: string; readonly subject: string },
  tenantIds: readonly string[],
): Promise<Member | undefined> {
  const [row] = await tx.query<MemberRow>(
    `SELECT ${COLUMNS} FROM archivist.member m
      WHERE m.issuer = $1 AND m.subject = $2 AND m.tenant_id = ANY ($3::uuid[]) AND m.active
      ORDER BY m.created_at, m.member_id LIMIT 1`,
    [principal.issuer, principal.subject, tenantIds],
  );
  return row && memberOf(row);
}

export async function updateMember(
  tx: Tx,
  member: Pick<Member, 'tenantId' | 'memberId' | 'displayName' | 'email' | 'roles' | 'active'>,
): Promise<void> {
  await tx.execute(
    `UPDATE archivist.member SET display_name = $3, email = $4, roles = $5, active = $6
      WHERE tenant_id = $1 AND member_id = $2`,
    [member.tenantId, member.memberId, member.displayName, member.email, member.roles, member.active],
  );
}

/** Conditions refer to a row as `m`. */
export const memberRows = rowList<MemberRow, Member>({
  from: 'archivist.member m',
  columns: COLUMNS,
  idColumn: 'm.member_id',
  idOf: ({ memberId }) => memberId,
  entryOf: memberOf,
});

/** A tenancy in which a person is an active member. */
interface Membership {
  readonly memberId: string;
  readonly tenantId: string;
  readonly tenancyName: string;
}

/** Memberships in enabled tenancies that still trust that issuer, the longest first. */
export async function listMembershipRows(
  tx: Tx,
  principal: { readonly issuer: string; readonly subject: string },
  limit: number,
): Promise<Membership[]> {
  const rows = await tx.query<{ member_id: string; tenant_id: string; tenancy_name: string }>(
    `SELECT m.member_id, m.tenant_id, t.display_name AS tenancy_name
       FROM archivist.member m JOIN archivist.tenancy t ON t.tenant_id = m.tenant_id
       JOIN archivist.identity_provider p ON p.tenant_id = m.tenant_id AND p.issuer = m.issuer
      WHERE m.issuer = $1 AND m.subject = $2 AND m.active AND p.enabled AND t.disabled_at IS NULL
      ORDER BY m.created_at, m.member_id LIMIT ${limit}`,
    [principal.issuer, principal.subject],
  );
  return rows.map((row) => ({ memberId: row.member_id, tenantId: row.tenant_id, tenancyName: row.tenancy_name }));
}

function memberOf(row: MemberRow): Member {
  return {
    tenantId: row.tenant_id,
    memberId: row.member_id,
    issuer: row.issuer,
    subject: row.subject,
    displayName: row.display_name,
    email: row.email,
    roles: row.roles,
    active: row.active,
    createdAt: row.created_at,
  };
}
