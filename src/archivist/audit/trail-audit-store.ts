import type { Tx } from '../../platform/postgres/database.js';

/** An asset-free event whose rows in the index of trails are not those of its trails. */
interface MisplacedEvent {
  readonly tenantId: string;
  readonly eventId: string;
  /** Whether a row is missing; otherwise there is one too many. */
  readonly missing: boolean;
}

/**
 * Some of the asset-free events that a search by trail does not find, or finds by a trail that is not theirs. Both tables
 * are read once, and grouping writes to disk what memory does not hold.
 */
export async function misplacedEvents(tx: Tx, limit: number): Promise<MisplacedEvent[]> {
  return tx.query<MisplacedEvent>(
    `SELECT tenant_id AS "tenantId", event_id AS "eventId", bool_and(of_event) AS missing
       FROM (SELECT e.tenant_id, e.event_id, left(trail, 256) AS trail_start, true AS of_event
               FROM archivist.asset_free_event e,
                    jsonb_array_elements_text(CASE jsonb_typeof(e.trails) WHEN 'array' THEN e.trails ELSE '[]' END) trail
             UNION ALL SELECT tenant_id, event_id, trail_start, false FROM archivist.asset_free_event_trail) places
      GROUP BY tenant_id, event_id, trail_start
     HAVING bool_and(of_event) OR NOT bool_or(of_event)
      LIMIT $1`,
    [limit],
  );
}
