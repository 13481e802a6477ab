import type { z } from 'zod';
import type { Principal } from '../../platform/http/principal.js';
import type { Tx } from '../../platform/postgres/database.js';
import {
  type AccessPolicy,
  accessPolicyDigest,
  accessPolicyIdentity,
  accessPolicyResponse,
  type changeAccessPolicySchema,
  type PolicyContent,
} from '../access/access-policy.js';
import {
  deleteAccessPolicyRow,
  excessWeights,
  findAccessPolicy,
  insertAccessPolicy,
  setPolicyPrincipals,
  updateAccessPolicy,
} from '../access/access-policy-store.js';
import { readersOf } from '../access/confirmed-share-store.js';
import { endedGrants } from '../access/past-grant.js';
import { lockShares, withdrawPastOfPolicy } from '../access/past-grant-store.js';
import { keepUnlessWithdrawn, type PastShares, type PastSharesDeps, withdrawal } from '../access/past-shares.js';
import { requireLight } from '../access/policy-limits.js';
import { readSubject, readUserAttribute } from '../access/principal-key.js';
import { type AdministerDeps, administer } from '../security/administer.js';
import { requireRoom } from '../tenancies/quota.js';
import { lockForCounting } from '../tenancies/quota-store.js';
import type { Quotas } from '../tenancies/quotas.js';
import { insertPolicyAudit } from './policy-audit-store.js';
import { noSuchAccessPolicy } from './read-access-policies.js';

export interface WritePolicyDeps extends AdministerDeps, PastSharesDeps {
  readonly quotas: Quotas;
  /** Called after the commit when there are audit events to record. Must not throw. */
  policyChanged(): void;
}

/**
 * Kind of the event that a policy records on each asset that it matches
 * (docs/design/interface.md#who-may-do-what-without-a-policy).
 */
const POLICY_EVENT_DISPLAY_TYPE = 'arc_access_policy';

/** Adds a policy to the tenancy; it takes effect when this commits. @throws {ApiError} forbidden, quota_reached, bad_request */
export async function createAccessPolicy(
  deps: WritePolicyDeps,
  principal: Principal,
  content: PolicyContent,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  const createdAt = new Date(deps.clock.now());
  const policy: AccessPolicy = { ...content, tenantId, policyId: deps.ids.uuid(), version: 1n, createdAt };
  const act = { action: 'access_policy.create', resource: 'access_policies' } as const;
  await administer(deps, principal, act, async (tx) => {
    await requireRoom(tx, deps.quotas, tenantId, 'access_policies');
    await storePolicy(tx, policy, insertAccessPolicy);
    await followPolicy(tx, deps, policy, 'create');
    return { result: undefined, resource: accessPolicyIdentity(policy), details: detailsOf(policy) };
  });
  deps.policyChanged();
  return accessPolicyResponse(policy);
}

/**
 * Changes what the body names; takes effect when this commits. What other organisations lose by it stays readable as it
 * is now, unless `past` is withdrawn: then they lose everything that the policy's ended shares still show, too. If the
 * policy already is as the body says, there is no new version.
 * @throws {ApiError} forbidden, not_found, bad_request
 */
export async function changeAccessPolicy(
  deps: WritePolicyDeps,
  principal: Principal,
  policyId: string,
  change: z.output<typeof changeAccessPolicySchema>,
  past: PastShares = 'keep',
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  const act = { action: 'access_policy.update', resource: accessPolicyIdentity({ policyId }) } as const;
  const changed = await administer(deps, principal, act, async (tx) => {
    await lockShares(tx, [tenantId], 'alone');
    const policy = await findAccessPolicy(tx, { tenantId, policyId }, 'lock');
    if (!policy) throw noSuchAccessPolicy();
    const wanted: AccessPolicy = {
      ...policy,
      display_name: change.display_name ?? policy.display_name,
      description: change.description ?? policy.description,
      filters: change.filters ?? policy.filters,
      access_permissions: change.access_permissions ?? policy.access_permissions,
    };
    const isChanged = accessPolicyDigest(wanted) !== accessPolicyDigest(policy);
    if (!isChanged && past === 'keep') return { result: { policy, isChanged }, unchanged: true };
    const next = isChanged ? { ...wanted, version: policy.version + 1n } : policy;
    await keepUnlessWithdrawn(tx, deps, endedGrants(policy, next, await readersOf(tx, tenantId)), past);
    if (past === 'withdraw') await withdrawPastOfPolicy(tx, policy);
    if (isChanged) {
      await storePolicy(tx, next, updateAccessPolicy);
      await followPolicy(tx, deps, next, 'update');
    }
    return { result: { policy: next, isChanged }, details: { ...detailsOf(next), ...withdrawal(past) } };
  });
  if (changed.isChanged) deps.policyChanged();
  return accessPolicyResponse(changed.policy);
}

/**
 * Deletes a policy; takes effect when this commits. What it showed to other organisations stays readable as it is now,
 * unless `past` is withdrawn. That also withdraws what a policy shows that was deleted before.
 * @throws {ApiError} forbidden, not_found
 */
export function deleteAccessPolicy(
  deps: WritePolicyDeps,
  principal: Principal,
  policyId: string,
  past: PastShares = 'keep',
): Promise<void> {
  const { tenantId } = principal;
  const act = { action: 'access_policy.delete', resource: accessPolicyIdentity({ policyId }) } as const;
  return administer(deps, principal, act, async (tx) => {
    await lockShares(tx, [tenantId], 'alone');
    const policy = await findAccessPolicy(tx, { tenantId, policyId }, 'lock');
    if (policy)
      await keepUnlessWithdrawn(tx, deps, endedGrants(policy, undefined, await readersOf(tx, tenantId)), past);
    const withdrawn = past === 'withdraw' && (await withdrawPastOfPolicy(tx, { tenantId, policyId }));
    if (policy) await deleteAccessPolicyRow(tx, policy);
    else if (!withdrawn) throw noSuchAccessPolicy();
    return { result: undefined, details: { ...(policy && detailsOf(policy)), ...withdrawal(past) } };
  });
}

/** Stores a policy with the keys by which it is found. @throws {ApiError} bad_request if policies get too heavy */
async function storePolicy(
  tx: Tx,
  policy: AccessPolicy,
  store: (tx: Tx, policy: AccessPolicy) => Promise<void>,
): Promise<void> {
  const { tenantId } = policy;
  const principals = policy.access_permissions.flatMap(({ subjects, user_attributes }) => [
    ...subjects.map(readSubject),
    ...user_attributes.flatMap(({ or }) => or.map(readUserAttribute)),
  ]);
  await lockForCounting(tx, tenantId);
  const before = await excessWeights(tx, tenantId, principals);
  await store(tx, policy);
  await setPolicyPrincipals(tx, policy, principals);
  requireLight(before, await excessWeights(tx, tenantId, principals));
}

/** Stores the audit events of a new version, which are still to be recorded. */
async function followPolicy(
  tx: Tx,
  deps: WritePolicyDeps,
  policy: AccessPolicy,
  verb: 'create' | 'update',
): Promise<void> {
  const { tenantId, policyId, version, filters } = policy;
  const eventAttributes = {
    arc_display_type: POLICY_EVENT_DISPLAY_TYPE,
    arc_access_policy_identity: accessPolicyIdentity(policy),
    arc_access_policy_version: version.toString(),
    arc_access_policy_digest: accessPolicyDigest(policy),
    arc_access_policy_digest_alg: 'SHA-256',
    arc_access_policy_change: verb,
  };
  const createdAt = new Date(deps.clock.now());
  await insertPolicyAudit(tx, { tenantId, policyId, version, filters, eventAttributes, createdAt });
}

function detailsOf(policy: AccessPolicy) {
  const { display_name, version } = policy;
  return { display_name, version: version.toString(), digest: accessPolicyDigest(policy) };
}
