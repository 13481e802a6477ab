import { parsePolicyFilter } from '../../filter/attribute-filter.js';
import { boundValues } from '../../filter/bound-values.js';
import { matchesAttributeFilter } from '../../filter/matches.js';
import { type AccessPolicy, accessPolicyResponse, POLICY_FILTER } from '../../iam/access/access-policy.js';
import { accessPolicyRows, findAccessPolicy } from '../../iam/access/access-policy-store.js';
import { noSuchAccessPolicy, requirePolicyManager } from '../../iam/access-policies/read-access-policies.js';
import type { Principal } from '../../platform/http/principal.js';
import { type Condition, condition, meaning, written } from '../../platform/listing/condition.js';
import { listOrder } from '../../platform/listing/list-order.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { readListQuery } from '../../platform/listing/list-query.js';
import type { Tx } from '../../platform/postgres/database.js';
import { readTimestamp, timestampOf } from '../../platform/timestamps.js';
import type { Asset } from '../assets/asset.js';
import { assetConditions, NEW_ASSET_ENTRY } from '../assets/asset-filter-store.js';
import { assetsFound } from '../assets/asset-narrowing-store.js';
import { countAssets, findAssets, listAssets } from '../assets/asset-store.js';
import { policyReachSql } from '../assets/policy-reach-store.js';
import type { ReadAssetDeps } from '../assets/read-assets.js';
import { allShown, assetAt } from '../assets/read-assets.js';
import { noSuchAsset } from '../assets/see-asset.js';
import { progressConditions } from '../listing/progress-conditions.js';
import { type ListDeps, readScope } from '../read-scope.js';

/** Policies that one query reads. */
const POLICIES_AT_ONCE = 500;

/**
 * Lists, for Owners, the assets that a policy of the caller's tenancy matches, each with the policy's texts in
 * `access_policy`. @throws {ApiError} forbidden, not_found
 */
export function listAssetsOfPolicy(
  deps: ReadAssetDeps & ListDeps,
  principal: Principal,
  policyId: string,
  request: { query: Readonly<Record<string, unknown>>; exactTotal: boolean },
): Promise<Page<Record<string, unknown>>> {
  requirePolicyManager(principal);
  const { tenantId } = principal;
  const list = `assets of policy ${tenantId} ${policyId}`;
  const query = readListQuery(request.query, list, deps.pageTokens);
  const order = listOrder(query.filters);
  return deps.database.inTransaction(readScope(deps.deployment, tenantId), async (tx) => {
    const policy = await findAccessPolicy(tx, { tenantId, policyId });
    if (!policy) throw noSuchAccessPolicy();
    const conditions = [
      meaning({ kind: 'tenancy', tenantId }, condition('a.tenant_id = ?', tenantId)),
      assetsOfPolicy(policy),
      ...[(await assetsFound(tx, tenantId, parsePolicyFilter(policy.filters, POLICY_FILTER))) ?? []].flat(),
      ...assetConditions(query.filters, { column: 'a.attributes' }),
      ...(await progressConditions(tx, tenantId, NEW_ASSET_ENTRY, query.filters)),
    ];
    const reader = {
      idColumn: 'a.asset_id',
      idOf: (asset: Asset) => asset.assetId,
      list: (all: readonly Condition[], limit: number) => listAssets(tx, all, limit, order),
      count: (all: readonly Condition[], limit?: number) => countAssets(tx, all, limit),
      order,
    };
    const { exactTotal } = request;
    const page = await listPage(reader, { list, query, conditions, exactTotal, tokens: deps.pageTokens });
    const shown = await allShown(tx, page.entries, timestampOf(deps.clock.now()));
    const { identity, display_name, description, tenant } = accessPolicyResponse(policy);
    const access_policy = { identity, display_name, description, tenant };
    return { ...page, entries: shown.map((asset) => ({ ...asset, access_policy })) };
  });
}

/** The condition for assets `a` that a policy with these filters matches; never public ones. */
export function assetsOfPolicy(policy: Pick<AccessPolicy, 'filters'>): Condition {
  const bound = boundValues(() => '?');
  const sql = policyReachSql(parsePolicyFilter(policy.filters, POLICY_FILTER), bound);
  return written(sql, bound);
}

/**
 * Lists, for Owners, the policies of the caller's tenancy that match one of its assets, newest first.
 * @param atTime matches today's policies against the asset as it was then
 * @throws {ApiError} forbidden, not_found
 */
export function listPoliciesOfAsset(
  deps: ReadAssetDeps & ListDeps,
  principal: Principal,
  assetId: string,
  atTime?: string,
): Promise<Record<string, unknown>[]> {
  requirePolicyManager(principal);
  const { tenantId } = principal;
  const until = atTime ? new Date(readTimestamp(atTime, 'at_time').unixMs) : undefined;
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const [asset] = await findAssets(tx, [{ tenantId, assetId }]);
    if (!asset) throw noSuchAsset();
    const { attributes } = until ? await assetAt(tx, asset, until) : asset;
    if (asset.public) return [];
    const policies = await everyPolicy(tx, tenantId);
    return policies
      .filter(({ filters }) => matchesAttributeFilter(parsePolicyFilter(filters, POLICY_FILTER), attributes))
      .map(accessPolicyResponse);
  });
}

async function everyPolicy(tx: Tx, tenantId: string): Promise<AccessPolicy[]> {
  const policies: AccessPolicy[] = [];
  for (let last: string | undefined; ; ) {
    const beyond = last === undefined ? [] : [condition('p.policy_id < ?', last)];
    const conditions = [condition('p.tenant_id = ?', tenantId), ...beyond];
    const found = await accessPolicyRows.list(tx, conditions, POLICIES_AT_ONCE);
    policies.push(...found.rows);
    if (!found.cut && found.rows.length < POLICIES_AT_ONCE) return policies;
    last = found.rows.at(-1)!.policyId;
  }
}
