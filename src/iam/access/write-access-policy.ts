import type { z } from 'zod';
import type { Principal } from '../../platform/http/principal.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import type { Quotas } from '../../platform/quotas.js';
import { recordSecurityEvent, type SecurityDeps } from '../security/record-security-event.js';
import { actorOf } from '../security/security-event.js';
import { requireRoom } from '../tenancies/quota.js';
import {
  type AccessPolicy,
  accessPolicyDigest,
  accessPolicyIdentity,
  accessPolicyResponse,
  type changeAccessPolicySchema,
  type PolicyContent,
} from './access-policy.js';
import {
  deleteAccessPolicyRow,
  findAccessPolicy,
  insertAccessPolicy,
  setPolicyPrincipals,
  updateAccessPolicy,
} from './access-policy-store.js';
import { insertPolicyAudit } from './policy-audit-store.js';
import { readSubject, readUserAttribute } from './principal-key.js';
import { noSuchAccessPolicy, requirePolicyManager } from './read-access-policies.js';
import { requireOwnerNow } from './require-owner-now.js';

export interface WritePolicyDeps extends SecurityDeps {
  readonly database: Database;
  readonly quotas: Quotas;
  /** Called after the commit when there are audit events to record. Must not throw. */
  policyChanged(): void;
}

/** Kind of the event that a policy leaves on each asset that it matches (DESIGN 10). */
export const POLICY_EVENT_DISPLAY_TYPE = 'arc_access_policy';

/** Adds a policy to the tenancy; it counts from the commit on. @throws {ApiError} forbidden, quota_reached */
export async function createAccessPolicy(
  deps: WritePolicyDeps,
  principal: Principal,
  content: PolicyContent,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requirePolicyManager(principal);
  const createdAt = new Date(deps.clock.now());
  const policy: AccessPolicy = { ...content, tenantId, policyId: deps.ids.uuid(), version: 1n, createdAt };
  await deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    await requireOwnerNow(tx, principal);
    await requireRoom(tx, deps.quotas, tenantId, 'access_policies');
    await insertAccessPolicy(tx, policy);
    await followPolicy(tx, deps, principal, policy, 'create');
  });
  deps.policyChanged();
  return accessPolicyResponse(policy);
}

/** Changes what the body names; it counts from the commit on. @throws {ApiError} forbidden, not_found */
export async function changeAccessPolicy(
  deps: WritePolicyDeps,
  principal: Principal,
  policyId: string,
  change: z.output<typeof changeAccessPolicySchema>,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requirePolicyManager(principal);
  const changed = await deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    await requireOwnerNow(tx, principal);
    const policy = await findAccessPolicy(tx, { tenantId, policyId }, 'lock');
    if (!policy) throw noSuchAccessPolicy();
    const next: AccessPolicy = {
      ...policy,
      version: policy.version + 1n,
      display_name: change.display_name ?? policy.display_name,
      description: change.description ?? policy.description,
      filters: change.filters ?? policy.filters,
      access_permissions: change.access_permissions ?? policy.access_permissions,
    };
    await updateAccessPolicy(tx, next);
    await followPolicy(tx, deps, principal, next, 'update');
    return next;
  });
  deps.policyChanged();
  return accessPolicyResponse(changed);
}

/** Takes a policy back, from the commit on. @throws {ApiError} forbidden, not_found */
export async function deleteAccessPolicy(deps: WritePolicyDeps, principal: Principal, policyId: string): Promise<void> {
  const { tenantId } = principal;
  requirePolicyManager(principal);
  await deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    await requireOwnerNow(tx, principal);
    const policy = await findAccessPolicy(tx, { tenantId, policyId }, 'lock');
    if (!policy || !(await deleteAccessPolicyRow(tx, policy))) throw noSuchAccessPolicy();
    await tellAudit(tx, deps, principal, policy, 'delete');
  });
}

/** What goes with a new version: by whom it is found, and what is to be recorded of it. */
async function followPolicy(
  tx: Tx,
  deps: WritePolicyDeps,
  principal: Principal,
  policy: AccessPolicy,
  verb: 'create' | 'update',
): Promise<void> {
  const principals = policy.access_permissions.flatMap(({ subjects, user_attributes }) => [
    ...subjects.map(readSubject),
    ...user_attributes.flatMap(({ or }) => or.map(readUserAttribute)),
  ]);
  await setPolicyPrincipals(tx, policy, principals);
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
  await tellAudit(tx, deps, principal, policy, verb);
}

function tellAudit(
  tx: Tx,
  deps: WritePolicyDeps,
  principal: Principal,
  policy: AccessPolicy,
  verb: 'create' | 'update' | 'delete',
): Promise<void> {
  return recordSecurityEvent(tx, deps, {
    tenantId: policy.tenantId,
    actor: actorOf(principal),
    action: `access_policy.${verb}`,
    resource: accessPolicyIdentity(policy),
    details: {
      display_name: policy.display_name,
      version: policy.version.toString(),
      digest: accessPolicyDigest(policy),
    },
  });
}
