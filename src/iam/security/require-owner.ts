import { ApiError } from '../../platform/errors.js';
import type { Tx } from '../../platform/postgres/database.js';
import { hasOwner, lockOwners } from './owner-store.js';

/**
 * Checks that the tenancy still has an Owner after a change that can remove the last one. No other such change runs at
 * the same time.
 * @throws {ApiError} conflict if no Owner is left who can act
 */
export async function requireOwner(tx: Tx, tenantId: string): Promise<void> {
  await lockOwners(tx, tenantId);
  if (await hasOwner(tx, tenantId)) return;
  throw new ApiError(
    'conflict',
    'A tenancy must keep an Owner: first give the Owner role to another application, or to a member who can sign in then.',
  );
}
