import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Tx } from '../../platform/postgres/database.js';
import { isOwner, OWNER_ROLE } from '../access/owner-and-creator.js';
import { lockApplicationRoles, lockMemberRoles } from './owner-store.js';

/**
 * Requires that the caller is an Owner until the transaction ends. A transaction that removes the role must wait; if
 * two Owners demote each other, the second one is refused.
 * @throws {ApiError} forbidden
 */
export async function requireOwnerNow(tx: Tx, principal: Principal): Promise<void> {
  if (isOwner(principal) && (await isOwnerStill(tx, principal))) return;
  throw new ApiError('forbidden', 'Only Owners may read and change the settings of a tenancy.');
}

async function isOwnerStill(tx: Tx, principal: Principal): Promise<boolean> {
  const { tenantId, subject, kind } = principal;
  const roles =
    kind === 'application'
      ? await lockApplicationRoles(tx, { tenantId, applicationId: subject })
      : await lockMemberRoles(tx, tenantId, principal);
  return roles?.includes(OWNER_ROLE) ?? false;
}
