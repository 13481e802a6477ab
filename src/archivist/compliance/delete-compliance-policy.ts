import type { Principal } from '../../platform/http/principal.js';
import type { Database } from '../../platform/postgres/database.js';
import { deletePolicy } from './compliance-policy-store.js';
import { requireManager } from './create-compliance-policy.js';
import { noSuchPolicy, policyResponse } from './read-compliance-policies.js';

/**
 * Deletes a policy and resolves with it (docs/design/interface.md#compliance).
 * @throws {ApiError} forbidden unless the caller is an Owner, not_found
 */
export async function deleteCompliancePolicy(
  deps: { readonly database: Database },
  principal: Principal,
  policyId: string,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireManager(principal);
  return deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    const deleted = await deletePolicy(tx, tenantId, policyId);
    if (!deleted) throw noSuchPolicy();
    return policyResponse(deleted);
  });
}
