import type { Tx } from '../platform/postgres/database.js';

/** An event row that is neither in a log nor in its intake: it was never accepted. */
interface UnloggedEvent {
  readonly tenantId: string;
  readonly eventId: string;
}

/** Some of the events that are neither in their tenancy's log nor in its intake. */
export async function unloggedEvents(tx: Tx, limit: number): Promise<UnloggedEvent[]> {
  const rows = await tx.query<{ tenant_id: string; event_id: string }>(
    `SELECT e.tenant_id, e.event_id
       FROM (SELECT tenant_id, event_id FROM archivist.asset_event
             UNION ALL SELECT tenant_id, event_id FROM archivist.asset_free_event) e
      WHERE NOT EXISTS (SELECT FROM archivist.leaf l
                         WHERE l.tenant_id = e.tenant_id AND l.log_id = e.tenant_id AND l.entry_id = e.event_id)
        AND NOT EXISTS (SELECT FROM archivist.intake i
                         WHERE i.tenant_id = e.tenant_id AND i.log_id = e.tenant_id AND i.entry_id = e.event_id)
      LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({ tenantId: row.tenant_id, eventId: row.event_id }));
}
