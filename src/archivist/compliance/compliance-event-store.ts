import type { Tx } from '../../platform/postgres/database.js';
import { type ComplianceEvent, complianceEvent } from './compliance-check.js';

/** Rows of one query: a larger one would block the embedded engine. */
const CHUNK = 5_000;

interface EventRow {
  event_id: string;
  display_type: string | null;
  correlation_value: string | null;
  accepted_at: Date;
}

/** The events of an asset with one of these display types that were accepted until then, in order of acceptance. */
export async function complianceEvents(
  tx: Tx,
  asset: { readonly tenantId: string; readonly assetId: string },
  displayTypes: readonly string[],
  until: Date,
): Promise<ComplianceEvent[]> {
  const events: ComplianceEvent[] = [];
  if (displayTypes.length === 0) return events;
  // Not the generated column: it omits long display types, which a policy may name.
  const text = `SELECT e.event_id, e.event_attributes ->> 'arc_display_type' AS display_type,
       e.event_attributes ->> 'arc_correlation_value' AS correlation_value, e.accepted_at
     FROM archivist.asset_event e
    WHERE e.tenant_id = $1 AND e.asset_id = $2 AND e.event_id > $3 AND e.accepted_at <= $4
      AND e.event_attributes ->> 'arc_display_type' = ANY ($5::text[])
    ORDER BY e.event_id LIMIT ${CHUNK}`;
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const rows = await tx.query<EventRow>(text, [asset.tenantId, asset.assetId, after, until, displayTypes]);
    for (const row of rows) events.push(eventOf(row));
    if (rows.length < CHUNK) return events;
    after = rows.at(-1)!.event_id;
  }
}

function eventOf(row: EventRow): ComplianceEvent {
  const attributes = { arc_display_type: row.display_type, arc_correlation_value: row.correlation_value };
  return complianceEvent(attributes, row.accepted_at.getTime());
}
