import { commits, type EntryCommit } from '../ledger/entry-proof.js';
import { tenancyLog } from '../ledger/log.js';
import type { Tx } from '../platform/postgres/database.js';

/**
 * The positions of these events of assets in the logs of their own tenancies, by event; events that are in no log yet
 * are left out.
 */
export async function commitsOf(
  tx: Tx,
  events: readonly { readonly tenantId: string; readonly eventId: string }[],
): Promise<Map<string, EntryCommit>> {
  const found = new Map<string, EntryCommit>();
  for (const tenantId of new Set(events.map((event) => event.tenantId))) {
    const ids = events.flatMap((event) => (event.tenantId === tenantId ? [event.eventId] : []));
    for (const [eventId, commit] of await commits(tx, tenancyLog(tenantId), 'asset_event', ids))
      found.set(eventId, commit);
  }
  return found;
}
