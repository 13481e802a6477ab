import type { Tx } from '../../platform/postgres/database.js';
import type { Asset } from '../assets/asset.js';
import { assetAt } from '../assets/read-assets.js';
import type { StoredPolicy } from './compliance-policy-store.js';
import type { StoredVerdict } from './compliance-verdict-store.js';
import { evaluateAssets } from './evaluate-assets.js';

/**
 * Returns what policies found just before an asset's first new event. So a change is told although no verdict was stored
 * before, and an asset that had not complied for long is not told as one that just ceased to.
 * @param beforeMs the time of that event
 * @returns none for an asset that did not exist
 */
export async function startingVerdicts(
  tx: Tx,
  asset: Asset,
  policies: readonly StoredPolicy[],
  beforeMs: number,
): Promise<StoredVerdict[]> {
  const until = new Date(beforeMs - 1);
  if (policies.length === 0 || asset.createdAt > until) return [];
  return evaluateAssets(tx, asset.tenantId, [await assetAt(tx, asset, until)], policies, until.getTime());
}
