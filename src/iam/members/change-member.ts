import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Tx } from '../../platform/postgres/database.js';
import { OWNER_ROLE } from '../access/permits.js';
import { deleteInvitesTo } from '../invites/invite-store.js';
import { type AdministerDeps, administer } from '../security/administer.js';
import { deleteSessionsOfMember } from '../sign-in/session-store.js';
import { type Member, memberIdentity, memberResponse } from './member.js';
import { findMember, updateMember } from './member-store.js';
import { lockOwners } from './owner-store.js';

/** What becomes of a member. @throws {ApiError} when it may not */
type Change = (member: Member) => Pick<Member, 'roles' | 'active'>;

/**
 * Gives a member exactly these roles. Nobody takes his own Owner role away, and a member who is deactivated gets none.
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
      throw new ApiError('bad_request', 'roles: the member is deactivated, activate it first');
    return { roles, active: member.active };
  });
}

/** Lets a member in again, as a basic user. @throws {ApiError} forbidden, not_found */
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
 * Shuts a member out from the next request on, and takes its roles, its sessions and the invites to its address away.
 * @throws {ApiError} forbidden, also for oneself; not_found
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
 * Changes come one after the other, and each is made by somebody who is an Owner until it commits: so there is always a
 * last one, whoever deactivates whom at the same time.
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
    await lockOwners(tx, tenantId);
    const member = await findMember(tx, tenantId, memberId);
    if (!member) throw new ApiError('not_found', 'There is no such member.');
    const changed = { ...member, ...decide(member) };
    await updateMember(tx, changed);
    if (!changed.active) await forgetWaysIn(tx, member);
    return { result: memberResponse(changed), details: { roles: changed.roles } };
  });
}

/** An invite that still waits would let him in again. */
async function forgetWaysIn(tx: Tx, member: Member): Promise<void> {
  await deleteSessionsOfMember(tx, member.tenantId, member.memberId);
  await deleteInvitesTo(tx, member.tenantId, member.email);
}

function isHimself(principal: Principal, member: Member): boolean {
  return principal.issuer === member.issuer && principal.subject === member.subject;
}

function refusedToHimself(): ApiError {
  return new ApiError('forbidden', 'Nobody deactivates or demotes himself: another Owner must do it.');
}
