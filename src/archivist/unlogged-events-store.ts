import type { Tx } from '../platform/postgres/database.js';

/** An event row that is neither in a log nor in its intake: it was never accepted. */
interface UnloggedEvent {
  readonly tenantId: string;
  readonly eventId: string;
}

/**
 * Some of the events that are neither in their tenancy's log nor in its intake. An event of an asset does not stand in
 * for an asset-free one of its id. Each row is read once: with NOT EXISTS, on tables without statistics, the planner would
 * read the whole log again for each event.
 */
export async function unloggedEvents(tx: Tx, limit: number): Promise<UnloggedEvent[]> {
  return tx.query<UnloggedEvent>(
    `SELECT unlogged.tenant_id AS "tenantId", unlogged.event_id AS "eventId"
       FROM ((SELECT tenant_id, event_id, 'asset_event' FROM archivist.asset_event
              UNION ALL SELECT tenant_id, event_id, 'asset_free_event' FROM archivist.asset_free_event)
             EXCEPT SELECT tenant_id, entry_id, entry_kind FROM archivist.leaf WHERE log_id = tenant_id
             EXCEPT SELECT tenant_id, entry_id, entry_kind FROM archivist.intake WHERE log_id = tenant_id) unlogged
      LIMIT $1`,
    [limit],
  );
}
