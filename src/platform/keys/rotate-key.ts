import type { Tx } from '../postgres/database.js';
import { createKey } from './create-keys.js';
import type { DEPLOYMENT_ROLES } from './key-role.js';
import type { KeyStore } from './key-store.js';
import { retireActiveKey } from './signing-key-store.js';

/**
 * Gives a role of the deployment a new key inside the caller's transaction. The one before stays published with the interval
 * in which it signed; what it signed verifies for ever, tokens for their own hour. Running processes go over to the new key
 * within a minute. The private half is kept before the database names it.
 * @param tenantId the deployment's own tenancy
 * @returns the id of the key that was retired
 * @throws {Error} when the role has no key
 */
export async function rotateKey(
  tx: Tx,
  store: KeyStore,
  tenantId: string,
  role: (typeof DEPLOYMENT_ROLES)[number],
  at: Date,
): Promise<{ readonly retired: string }> {
  const retired = await retireActiveKey(tx, tenantId, role, at);
  if (retired === undefined) throw new Error(`there is no active key for the role ${role}`);
  await createKey(tx, store, tenantId, role, at);
  return { retired };
}
