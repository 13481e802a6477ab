import { permits } from '../../iam/access/permits.js';
import type { ActTurns } from '../../iam/security/act-turns.js';
import { requireRoom } from '../../iam/tenancies/quota.js';
import type { Quotas } from '../../iam/tenancies/quotas.js';
import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Ids } from '../../platform/ids.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import type { CompliancePolicy } from './compliance-policy.js';
import { insertPolicy, type StoredPolicy } from './compliance-policy-store.js';
import { policyResponse } from './read-compliance-policies.js';

export interface CreateCompliancePolicyDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly quotas: Quotas;
  readonly actTurns: ActTurns;
}

/** Adds a policy to the tenancy. @throws {ApiError} forbidden unless the caller is an Owner, quota_reached */
export async function createCompliancePolicy(
  deps: CreateCompliancePolicyDeps,
  principal: Principal,
  policy: CompliancePolicy,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireManager(principal);
  const createdAt = new Date(deps.clock.now());
  const stored: StoredPolicy = { tenantId, policyId: deps.ids.uuid(), policy, createdAt };
  const create = async (tx: Tx) => {
    await requireRoom(tx, deps.quotas, tenantId, 'compliance_policies');
    await insertPolicy(tx, stored);
  };
  await deps.actTurns.inTurn(tenantId, () =>
    deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, create),
  );
  return policyResponse(stored);
}

/** Only Owners write policies (docs/design/interface.md#compliance). @throws {ApiError} forbidden */
export function requireManager(principal: Principal): void {
  if (permits(principal, 'manage', { kind: 'compliance_policies', tenantId: principal.tenantId })) return;
  throw new ApiError('forbidden', 'Only Owners may create and delete compliance policies.');
}
