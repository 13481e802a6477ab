import type { Tx } from '../../platform/postgres/database.js';
import { type AssetChange, assetKey, changeAssets } from '../assets/asset-store.js';
import { endShares } from './end-shares.js';

/** Applies the changes that the events of a batch make to their assets, and ends the shares that these changes end. */
export async function applyChanges(
  tx: Tx,
  batch: Parameters<typeof endShares>[1],
  changes: readonly AssetChange[],
): Promise<void> {
  const merged = mergeChanges(changes);
  await endShares(tx, batch, merged);
  await changeAssets(tx, merged);
}

/** Merges to one change per asset, where later changes win. Sorted, so that concurrent batches rarely deadlock. */
function mergeChanges(changes: readonly AssetChange[]): AssetChange[] {
  const merged = new Map<string, AssetChange>();
  for (const change of changes) {
    const key = assetKey(change);
    const before = merged.get(key);
    // One object for all changes of an asset: a copy for each takes seconds if a thousand events set other attributes.
    const attributes = Object.assign(before?.attributes ?? Object.create(null), change.attributes);
    merged.set(key, { ...before, ...change, attributes });
  }
  return [...merged.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, change]) => change);
}
