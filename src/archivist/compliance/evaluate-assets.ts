import { inPieces } from '../../platform/in-pieces.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Asset } from '../assets/asset.js';
import { applicablePolicies, namedDisplayTypes, readFilters } from './applicable-policies.js';
import { checkPolicy } from './check-policy.js';
import { complianceEvents } from './compliance-event-store.js';
import type { StoredPolicy } from './compliance-policy-store.js';
import type { StoredVerdict } from './compliance-verdict-store.js';
import { nextChange } from './next-change.js';

/** Events of the future, from a clock that ran ahead, are read too: they count from their time on. */
const END_OF_TIME = new Date('9999-12-31T00:00:00Z');

/**
 * The present verdicts of those of the policies that apply to each asset of a tenancy, and when time may change each.
 * Other requests are served between two policies.
 */
export async function evaluateAssets(
  tx: Tx,
  tenantId: string,
  assets: readonly Asset[],
  policies: readonly StoredPolicy[],
  nowMs: number,
): Promise<StoredVerdict[]> {
  const read = await readFilters(policies);
  const concerned: { asset: Asset; applicable: StoredPolicy[] }[] = [];
  for (const asset of assets) {
    const applicable = await applicablePolicies(read, asset.attributes);
    if (applicable.length > 0) concerned.push({ asset, applicable });
  }
  const assetIds = concerned.map(({ asset }) => asset.assetId);
  // Each policy looks only at events of the display types that it names.
  const events = await complianceEvents(tx, tenantId, assetIds, namedDisplayTypes(policies), END_OF_TIME);
  const checks = concerned.flatMap(({ asset: { assetId, attributes }, applicable }) => {
    const input = { events: events.get(assetId) ?? [], assetAttributes: attributes, compliantAtMs: nowMs };
    return applicable.map(({ policyId, policy }) => ({ policyId, assetId, policy, input }));
  });
  return inPieces(checks, ({ policyId, assetId, policy, input }) => {
    const next = nextChange(policy, input);
    const dueAt = next === undefined ? null : new Date(next);
    return { policyId, assetId, compliant: checkPolicy(policy, input).compliant, dueAt };
  });
}
