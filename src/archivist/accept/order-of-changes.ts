import { MOST_DIFFERENCE_MS } from '../../platform/clock-offset.js';
import { type Ids, uuidAfter } from '../../platform/ids.js';
import type { Tx } from '../../platform/postgres/database.js';
import { assetKey, lockForChange } from '../assets/asset-store.js';
import type { Submission } from './submission.js';

/** Where the events of a batch stand among those of the assets that it changes. */
interface OrderOfChanges {
  /** The id of a new event of the asset, greater than those of all earlier events if the batch changes the asset. */
  eventId(asset: { readonly tenantId: string; readonly assetId: string }): string;
  /** The time of the batch: this one, or a little later if a process with another clock was the last to change an asset. */
  dated(nowMs: number): number;
}

/**
 * Locks the assets that these submissions change, so that changes of an asset are applied in the order of their events'
 * ids. That order leads from the events to the attributes at any time. Without this, a process whose clock is behind
 * another one's, or that waits for another one's change, would store attributes to which the events do not lead.
 */
export async function orderOfChanges(tx: Tx, ids: Ids, submissions: readonly Submission[]): Promise<OrderOfChanges> {
  const changed = new Map<string, { tenantId: string; assetId: string }>();
  for (const submission of submissions) {
    if (submission.kind !== 'asset_event' || !changesAsset(submission)) continue;
    const asset = { tenantId: submission.principal.tenantId, assetId: submission.assetId };
    changed.set(assetKey(asset), asset);
  }
  const found = changed.size === 0 ? [] : await lockForChange(tx, [...changed.values()]);
  const newest = new Map(found.map((event) => [assetKey(event), event.eventId]));
  return {
    eventId(asset) {
      const key = assetKey(asset);
      const last = newest.get(key);
      const id = ids.uuid();
      if (last === undefined) return id;
      const next = id > last ? id : uuidAfter(last, ids);
      newest.set(key, next);
      return next;
    },
    // A time that is further ahead is of a clock that was wrong.
    dated: (nowMs) =>
      found
        .map(({ acceptedAt }) => acceptedAt.getTime())
        .filter((time) => time <= nowMs + MOST_DIFFERENCE_MS)
        .reduce((latest, time) => Math.max(latest, time), nowMs),
  };
}

function changesAsset({ operation, assetAttributes }: Submission & { kind: 'asset_event' }): boolean {
  return operation === 'StartTracking' || operation === 'StopTracking' || Object.keys(assetAttributes).length > 0;
}
