import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { deleteRow, findRow, updateRows } from '../../platform/postgres/rows-by-key.js';
import type { Member } from './member.js';

const MEMBER = table('member').columns<Member>({
  tenantId: 'tenant_id',
  memberId: 'member_id',
  issuer: 'issuer',
  subject: 'subject',
  displayName: 'display_name',
  email: 'email',
  roles: 'roles',
  active: 'active',
  createdAt: 'created_at',
});
const KEY = ['tenantId', 'memberId'] as const;
const COLUMNS = selected(MEMBER, 'm');

export async function insertMember(tx: Tx, member: Member): Promise<void> {
  await insertRows(tx, MEMBER, [member]);
}

export function findMember(tx: Tx, tenantId: string, memberId: string): Promise<Member | undefined> {
  return findRow(tx, MEMBER, KEY, { tenantId, memberId });
}

/** The member of a tenancy with this issuer and subject, active or not. */
export function findMemberBySubject(
  tx: Tx,
  tenantId: string,
  principal: { readonly issuer: string; readonly subject: string },
): Promise<Member | undefined> {
  return findRow(tx, MEMBER, ['tenantId', 'issuer', 'subject'], { ...principal, tenantId });
}

/** The active members with this issuer and subject in the named tenancies, at most ten, the longest membership first. */
export function findMembersAcross(
  tx: Tx,
  principal: { readonly issuer: string; readonly subject: string },
  tenantIds: readonly string[],
): Promise<Member[]> {
  return tx.query<Member>(
    `SELECT ${COLUMNS} FROM archivist.member m
      WHERE m.issuer = $1 AND m.subject = $2 AND m.tenant_id = ANY ($3::uuid[]) AND m.active
      ORDER BY m.created_at, m.member_id LIMIT 10`,
    [principal.issuer, principal.subject, tenantIds],
  );
}

export async function updateMember(
  tx: Tx,
  member: Pick<Member, 'tenantId' | 'memberId' | 'displayName' | 'email' | 'roles' | 'active'>,
): Promise<void> {
  await updateRows(tx, MEMBER, KEY, ['displayName', 'email', 'roles', 'active'], member);
}

export async function deleteMemberRow(tx: Tx, tenantId: string, memberId: string): Promise<void> {
  await deleteRow(tx, MEMBER, KEY, { tenantId, memberId });
}

/** Conditions refer to a row as `m`. */
export const memberRows = rowList<Member>({
  from: 'archivist.member m',
  columns: COLUMNS,
  large: ['displayName'],
  idColumn: 'm.member_id',
  idOf: ({ memberId }) => memberId,
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
