import { commits, type EntryCommit } from '../../ledger/entry-proof.js';
import { tenancyLog } from '../../ledger/log.js';
import type { Tx } from '../../platform/postgres/database.js';
import { simpleHashAssets } from '../assets/asset-store.js';
import { neverWitnessed } from '../confirmation.js';

/** The progress of asset events in their tenancy's log, by event id. Events of SIMPLE_HASH assets stop at CONFIRMED. */
export async function eventCommits(
  tx: Tx,
  tenantId: string,
  events: readonly { readonly eventId: string; readonly assetId: string }[],
): Promise<Map<string, EntryCommit>> {
  const ids = events.map((event) => event.eventId);
  const known = await commits(tx, tenancyLog(tenantId), 'asset_event', ids);
  const witnessed = events.filter(({ eventId }) => known.get(eventId)?.witnessed);
  if (witnessed.length === 0) return known;
  const capped = await simpleHashAssets(
    tx,
    tenantId,
    witnessed.map(({ assetId }) => assetId),
  );
  for (const { eventId, assetId } of witnessed)
    if (capped.has(assetId)) known.set(eventId, neverWitnessed(known.get(eventId)!));
  return known;
}
