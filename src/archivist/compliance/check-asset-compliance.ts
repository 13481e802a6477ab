import { z } from 'zod';
import { readAccess } from '../../iam/access/read-access.js';
import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { type ListQuery, nextPageToken, readListQuery } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import type { Tx } from '../../platform/postgres/database.js';
import { readTimestamp, timestampOf, timestampSchema } from '../../platform/timestamps.js';
import type { Asset } from '../assets/asset.js';
import { assetAt } from '../assets/read-assets.js';
import { noSuchAsset, seeAsset } from '../assets/see-asset.js';
import type { Attributes } from '../attributes.js';
import { type ListDeps, readScope } from '../read-scope.js';
import { applicablePolicies, everyPolicy, namedDisplayTypes, readFilters } from './applicable-policies.js';
import { checkPolicies } from './check-policies.js';
import type { ComplianceInput } from './compliance-check.js';
import { complianceEvents } from './compliance-event-store.js';
import type { StoredPolicy } from './compliance-policy-store.js';
import { policyIdentity } from './read-compliance-policies.js';

export interface CheckComplianceDeps extends ListDeps {
  readonly clock: Clock;
}

/** The compliance of an asset in a response. */
export const assetComplianceSchema = z.strictObject({
  compliant: z.boolean(),
  compliant_at: timestampSchema,
  compliance: z.array(
    z.strictObject({ compliance_policy_identity: z.string(), compliant: z.boolean(), reason: z.string() }),
  ),
  next_page_token: z.string(),
});

/** The result of checking one asset: a page of the statements, and the verdict over all of them. */
export interface AssetCompliance {
  readonly compliant: boolean;
  /** The time that the check applies to, RFC 3339. */
  readonly compliantAt: string;
  readonly statements: readonly Record<string, unknown>[];
  readonly nextPageToken: string;
  readonly total: number;
}

/**
 * Checks an asset against the policies whose `asset_filter` it passes: current policies, events accepted until
 * `compliant_at`, attributes as of that time (docs/design/interface.md#compliance).
 * Without `compliant_at` the check applies to now; later pages keep the time of the first. An asset that no policy
 * applies to is compliant. The policies are the tenancy's own, so no other tenancy is told of them, even of an asset that
 * is shared with it.
 * @throws {ApiError} not_found for an asset that is not of the principal's tenancy, that the principal may not see, or
 *   that did not exist at that time
 */
export function checkAssetCompliance(
  deps: CheckComplianceDeps,
  principal: Principal,
  assetId: string,
  rawQuery: Readonly<Record<string, unknown>>,
): Promise<AssetCompliance> {
  const list = `compliance ${principal.tenantId} ${principal.issuer} ${principal.subject} ${assetId}`;
  const query = readListQuery(rawQuery, list, deps.pageTokens);
  const given = compliantAt(query);
  const at = readTimestamp(given ?? timestampOf(deps.clock.now()), 'compliant_at');
  return deps.database.inTransaction(readScope(deps.deployment, principal.tenantId), async (tx) => {
    const { asset, view } = await seeAsset(tx, await readAccess(tx, principal), assetId);
    if (asset.tenantId !== principal.tenantId) throw noSuchAsset();
    const { attributes } = given === undefined ? asset : await assetAt(tx, asset, new Date(at.unixMs));
    const policies = await applicablePolicies(await readFilters(await everyPolicy(tx, asset.tenantId)), attributes);
    const input = await inputOf(tx, asset, policies, {
      attributes,
      at: at.unixMs,
      whole: view.whole,
    });
    const verdicts = await checkPolicies(policies, input);
    const statements = policies.map(({ policyId }, place) => ({
      compliance_policy_identity: policyIdentity(policyId),
      ...verdicts[place]!,
    }));
    const page = pageOf(policies, query);
    const fixed: ListQuery = { ...query, filters: [['compliant_at', at.text]] };
    return {
      compliant: statements.every((statement) => statement.compliant),
      compliantAt: at.text,
      statements: statements.slice(page.first, page.end),
      nextPageToken:
        page.end < policies.length ? nextPageToken(list, fixed, policies[page.end - 1]!.policyId, deps.pageTokens) : '',
      total: policies.length,
    };
  });
}

/** @throws {ApiError} bad_request for any other query parameter */
function compliantAt(query: ListQuery): string | undefined {
  let found: string | undefined;
  for (const [parameter, value] of query.filters) {
    if (parameter === 'order_by' && value === 'DEFAULT') continue;
    if (parameter === 'order_by') throw new ApiError('bad_request', 'order_by: must be DEFAULT');
    if (parameter !== 'compliant_at') throw noSuchFilter(parameter, ['compliant_at', 'order_by']);
    if (found !== undefined) throw new ApiError('bad_request', 'compliant_at: must be given once');
    found = value;
  }
  return found;
}

async function inputOf(
  tx: Tx,
  asset: Asset,
  policies: readonly StoredPolicy[],
  when: { readonly attributes: Attributes; readonly at: number; readonly whole: boolean },
): Promise<ComplianceInput> {
  const { tenantId, assetId } = asset;
  const events = await complianceEvents(tx, tenantId, [assetId], namedDisplayTypes(policies), new Date(when.at));
  return {
    events: events.get(assetId) ?? [],
    assetAttributes: when.attributes,
    compliantAtMs: when.at,
    readable: when.whole,
  };
}

/** Where the page begins and ends among the policies, which are ordered from the largest id down. */
function pageOf(policies: readonly StoredPolicy[], query: ListQuery): { first: number; end: number } {
  const { after } = query;
  const found = after === undefined ? 0 : policies.findIndex(({ policyId }) => policyId < after);
  const first = found < 0 ? policies.length : found;
  return { first, end: Math.min(first + query.pageSize, policies.length) };
}
