import type { Tx } from '../../platform/postgres/database.js';
import { type ComplianceEvent, complianceEvent } from './compliance-check.js';

/** Rows of one query: a larger one would block the embedded engine. */
const CHUNK = 5_000;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

interface EventRow {
  asset_id: string;
  event_id: string;
  display_type: string | null;
  correlation_value: string | null;
  accepted_at: Date;
}

/**
 * The events of at most 5,000 assets with one of these display types that were accepted until then, by asset, in order of
 * acceptance. Assets without such events are absent.
 */
export async function complianceEvents(
  tx: Tx,
  tenantId: string,
  assetIds: readonly string[],
  displayTypes: readonly string[],
  until: Date,
): Promise<ReadonlyMap<string, ComplianceEvent[]>> {
  const found = new Map<string, ComplianceEvent[]>();
  // Not the generated column: it omits long display types, which a policy may name.
  const text = `SELECT a.asset_id, e.event_id, e.event_attributes ->> 'arc_display_type' AS display_type,
       e.event_attributes ->> 'arc_correlation_value' AS correlation_value, e.accepted_at
     FROM unnest($2::uuid[], $3::uuid[]) AS a (asset_id, after)
    CROSS JOIN LATERAL (
      SELECT e.event_id, e.event_attributes, e.accepted_at FROM archivist.asset_event e
       WHERE e.tenant_id = $1 AND e.asset_id = a.asset_id AND e.event_id > a.after AND e.accepted_at <= $4
         AND e.event_attributes ->> 'arc_display_type' = ANY ($5::text[])
       ORDER BY e.event_id LIMIT $6) e
    ORDER BY a.asset_id, e.event_id`;
  let unread = displayTypes.length === 0 ? [] : assetIds.map((assetId) => ({ assetId, after: BEFORE_ALL }));
  while (unread.length > 0) {
    const ofEach = Math.floor(CHUNK / unread.length);
    const assets = [unread.map(({ assetId }) => assetId), unread.map(({ after }) => after)];
    const rows = await tx.query<EventRow>(text, [tenantId, ...assets, until, displayTypes, ofEach]);
    const read = new Map<string, { readonly after: string; readonly count: number }>();
    for (const row of rows) {
      const { asset_id: assetId, event_id: after } = row;
      found.set(assetId, found.get(assetId) ?? []);
      found.get(assetId)!.push(eventOf(row));
      read.set(assetId, { after, count: (read.get(assetId)?.count ?? 0) + 1 });
    }
    unread = [...read].flatMap(([assetId, { after, count }]) => (count < ofEach ? [] : [{ assetId, after }]));
  }
  return found;
}

function eventOf(row: EventRow): ComplianceEvent {
  const attributes = { arc_display_type: row.display_type, arc_correlation_value: row.correlation_value };
  return complianceEvent(attributes, row.accepted_at.getTime());
}
