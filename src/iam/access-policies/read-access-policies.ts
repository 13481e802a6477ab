import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { condition } from '../../platform/listing/condition.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { readListQuery } from '../../platform/listing/list-query.js';
import type { Database } from '../../platform/postgres/database.js';
import type { PageTokens } from '../../platform/postgres/page-token.js';
import { type AccessPolicy, accessPolicyResponse } from '../access/access-policy.js';
import { accessPolicyRows, findAccessPolicy } from '../access/access-policy-store.js';
import { permits } from '../access/permits.js';
import { accessPolicyConditions } from './access-policy-filter-store.js';

/** One policy, for Owners. @throws {ApiError} forbidden, not_found */
export async function readAccessPolicy(
  { database }: { readonly database: Database },
  principal: Principal,
  policyId: string,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requirePolicyManager(principal);
  const policy = await database.inTransaction({ read: [tenantId], write: [] }, (tx) =>
    findAccessPolicy(tx, { tenantId, policyId }),
  );
  if (!policy) throw noSuchAccessPolicy();
  return accessPolicyResponse(policy);
}

/** A page of the tenancy's policies, for Owners. @throws {ApiError} forbidden */
export async function listAccessPolicies(
  deps: { readonly database: Database; readonly pageTokens: PageTokens },
  principal: Principal,
  request: { query: Readonly<Record<string, unknown>>; exactTotal: boolean },
): Promise<Page<Record<string, unknown>>> {
  const { tenantId } = principal;
  requirePolicyManager(principal);
  const list = `access policies ${tenantId}`;
  const query = readListQuery(request.query, list, deps.pageTokens);
  const conditions = [condition('p.tenant_id = ?', tenantId), ...accessPolicyConditions(query.filters)];
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const reader = accessPolicyRows.reader(tx, query.filters);
    const { exactTotal } = request;
    const page = await listPage(reader, { list, query, conditions, exactTotal, tokens: deps.pageTokens });
    return { ...page, entries: page.entries.map((policy: AccessPolicy) => accessPolicyResponse(policy)) };
  });
}

/**
 * Only Owners may read and change policies (docs/design/interface.md#who-may-do-what-without-a-policy). @throws
 * {ApiError} forbidden
 */
export function requirePolicyManager(principal: Principal): void {
  if (permits(principal, 'manage', { kind: 'access_policies', tenantId: principal.tenantId })) return;
  throw new ApiError('forbidden', 'Only Owners may read and change access policies.');
}

export function noSuchAccessPolicy(): ApiError {
  return new ApiError('not_found', 'There is no such access policy.');
}
