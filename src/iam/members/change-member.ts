import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Tx } from '../../platform/postgres/database.js';
import { OWNER_ROLE } from '../access/owner-and-creator.js';
import { deleteInvitesTo } from '../invites/invite-store.js';
import { type AdministerDeps, administer } from '../security/administer.js';
import { lockOwners } from '../security/owner-store.js';
import { deleteSessionsOfMember } from '../sessions/session-store.js';
import { type Member, memberIdentity, memberResponse } from './member.js';
import { deleteMemberRow, findMember, updateMember } from './member-store.js';

/** Returns the member's new state. @throws {ApiError} if the change is not allowed */
type Change = (member: Member) => Pick<Member, 'roles' | 'active'>;

/**
 * Gives a member exactly these roles. Members cannot remove their own Owner role, and a deactivated member cannot get
 * roles.
 * @throws {ApiError} forbidden, not_found, bad_request
 */
export function setRoles(
  deps: AdministerDeps,
  principal: Principal,
  memberId: string,
  roles: readonly string[],
): Promise<Record<string, unknown>> {
  return change(deps, principal, memberId, 'member.set_roles', (member) => {
    if (isHimself(principal, member) && !roles.includes(OWNER_ROLE)) throw refusedToHimself();
    if (!member.active && roles.length > 0)
      throw new ApiError('bad_request', 'roles: the member is deactivated; activate the member first');
    return { roles, active: member.active };
  });
}

/** Reactivates a member, as a basic user. @throws {ApiError} forbidden, not_found */
export function activateMember(
  deps: AdministerDeps,
  principal: Principal,
  memberId: string,
): Promise<Record<string, unknown>> {
  return change(deps, principal, memberId, 'member.activate', (member) =>
    member.active ? member : { roles: [], active: true },
  );
}

/**
 * Deactivates a member from the next request on: removes its roles and sessions, and deletes invites to its address.
 * @throws {ApiError} forbidden, also for the caller's own membership; not_found
 */
export function deactivateMember(
  deps: AdministerDeps,
  principal: Principal,
  memberId: string,
): Promise<Record<string, unknown>> {
  return change(deps, principal, memberId, 'member.deactivate', (member) => {
    if (isHimself(principal, member)) throw refusedToHimself();
    return { roles: [], active: false };
  });
}

/**
 * Deletes a member: deactivates it, and forgets its name, address and subject. Only a new invite lets the person in again.
 * What the person recorded stays. @throws {ApiError} forbidden, also for the caller's own membership; not_found
 */
export function deleteMember(deps: AdministerDeps, principal: Principal, memberId: string): Promise<void> {
  const { tenantId } = principal;
  return administer(deps, principal, { action: 'member.delete', resource: memberIdentity(memberId) }, async (tx) => {
    const member = await lockMember(tx, tenantId, memberId);
    if (isHimself(principal, member)) throw refusedToHimself();
    await forgetWaysIn(tx, member);
    await deleteMemberRow(tx, tenantId, memberId);
    return { result: undefined };
  });
}

async function lockMember(tx: Tx, tenantId: string, memberId: string): Promise<Member> {
  await lockOwners(tx, tenantId);
  const member = await findMember(tx, tenantId, memberId);
  if (!member) throw new ApiError('not_found', 'There is no such member.');
  return member;
}

/**
 * Changes run one after the other, and each caller is an Owner until its change commits. So an Owner always remains,
 * even if Owners deactivate each other at the same time.
 */
function change(
  deps: AdministerDeps,
  principal: Principal,
  memberId: string,
  action: `member.${string}`,
  decide: Change,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  return administer(deps, principal, { action, resource: memberIdentity(memberId) }, async (tx) => {
    const member = await lockMember(tx, tenantId, memberId);
    const changed = { ...member, ...decide(member) };
    await updateMember(tx, changed);
    if (!changed.active) await forgetWaysIn(tx, member);
    return { result: memberResponse(changed), details: { roles: changed.roles } };
  });
}

/** A pending invite would let the person in again. */
async function forgetWaysIn(tx: Tx, member: Member): Promise<void> {
  await deleteSessionsOfMember(tx, member.tenantId, member.memberId);
  await deleteInvitesTo(tx, member.tenantId, member.email);
}

function isHimself(principal: Principal, member: Member): boolean {
  return principal.issuer === member.issuer && principal.subject === member.subject;
}

function refusedToHimself(): ApiError {
  return new ApiError('forbidden', 'Members cannot deactivate, delete or demote themselves: another Owner must do it.');
}
