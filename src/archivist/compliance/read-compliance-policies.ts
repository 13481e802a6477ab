import { permits } from '../../iam/access/permits.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { condition } from '../../platform/listing/condition.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { readListQuery } from '../../platform/listing/list-query.js';
import type { Database } from '../../platform/postgres/database.js';
import type { PageTokens } from '../../platform/postgres/page-token.js';
import { policyConditions } from './compliance-policy-filter-store.js';
import { compliancePolicyRows, findPolicy, type StoredPolicy } from './compliance-policy-store.js';

export interface ReadCompliancePolicyDeps {
  readonly database: Database;
  readonly pageTokens: PageTokens;
}

/** `compliance_policies/<uuid>`. */
export function policyIdentity(policyId: string): string {
  return `compliance_policies/${policyId}`;
}

/** A policy as the interface shows it. */
export function policyResponse({ policyId, policy }: StoredPolicy): Record<string, unknown> {
  return { identity: policyIdentity(policyId), ...policy };
}

/** One policy, for every identity of its tenancy. @throws {ApiError} not_found */
export async function readCompliancePolicy(
  deps: ReadCompliancePolicyDeps,
  principal: Principal,
  policyId: string,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireReader(principal);
  const found = await deps.database.inTransaction({ read: [tenantId], write: [] }, (tx) =>
    findPolicy(tx, tenantId, policyId),
  );
  if (!found) throw noSuchPolicy();
  return policyResponse(found);
}

/** A page of the tenancy's policies, newest first. */
export async function listCompliancePolicies(
  deps: ReadCompliancePolicyDeps,
  principal: Principal,
  request: { query: Readonly<Record<string, unknown>>; exactTotal: boolean },
): Promise<Page<Record<string, unknown>>> {
  const { tenantId } = principal;
  requireReader(principal);
  const list = `compliance policies ${tenantId}`;
  const query = readListQuery(request.query, list, deps.pageTokens);
  const conditions = [condition('p.tenant_id = ?', tenantId), ...policyConditions(query.filters)];
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const reader = compliancePolicyRows.reader(tx, query.filters);
    const { exactTotal } = request;
    const tokens = deps.pageTokens;
    const page = await listPage(reader, { list, query, conditions, exactTotal, tokens });
    return { ...page, entries: page.entries.map(policyResponse) };
  });
}

export function noSuchPolicy(): ApiError {
  return new ApiError('not_found', 'There is no such compliance policy.');
}

function requireReader(principal: Principal): void {
  if (permits(principal, 'read', { kind: 'compliance_policies', tenantId: principal.tenantId })) return;
  throw new ApiError('forbidden', 'This identity may not read compliance policies.');
}
