import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Tx } from '../../platform/postgres/database.js';
import { lockApplicationRoles } from '../applications/application-store.js';
import { isOwner, OWNER_ROLE } from './permits.js';

/**
 * Requires that the caller is an Owner until the transaction ends: whoever takes the role away meanwhile waits for it, and
 * of two Owners who demote each other one comes too late.
 * @throws {ApiError} forbidden
 */
export async function requireOwnerNow(tx: Tx, principal: Principal): Promise<void> {
  if (isOwner(principal) && (await isOwnerStill(tx, principal))) return;
  throw new ApiError('forbidden', 'Only Owners see and change what a tenancy is set up with.');
}

async function isOwnerStill(tx: Tx, { tenantId, subject, kind }: Principal): Promise<boolean> {
  if (kind !== 'application') return true;
  const roles = await lockApplicationRoles(tx, { tenantId, applicationId: subject });
  return roles?.includes(OWNER_ROLE) ?? false;
}
