import type { Tx } from '../../platform/postgres/database.js';
import type { AssetFreeEvent } from './asset-free-event.js';

/** Inserts accepted events and the trails that searches find them by. */
export async function insertAssetFreeEvents(tx: Tx, events: readonly AssetFreeEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.execute(
    `INSERT INTO archivist.asset_free_event (tenant_id, event_id, attributes, trails, event_type, creator_issuer,
       created_by, created_at_ms)
     SELECT t, e, attributes::jsonb, trails::jsonb, event_type, issuer, created_by, created
       FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[])
         AS n(t, e, attributes, trails, event_type, issuer, created_by, created)`,
    [
      events.map((event) => event.tenantId),
      events.map((event) => event.eventId),
      events.map((event) => JSON.stringify(event.attributes)),
      events.map((event) => JSON.stringify(event.trails)),
      events.map((event) => event.eventType),
      events.map((event) => event.creatorIssuer),
      events.map((event) => event.createdBy),
      events.map((event) => event.createdAtMs.toString()),
    ],
  );
  const onTrails = events.filter((event) => event.trails.length > 0);
  if (onTrails.length === 0) return;
  await tx.execute(
    `INSERT INTO archivist.asset_free_event_trail (tenant_id, trail_start, event_id)
     SELECT DISTINCT t, left(trail, 256), e FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS n(t, e, trails),
            jsonb_array_elements_text(trails::jsonb) AS trail`,
    [
      onTrails.map((event) => event.tenantId),
      onTrails.map((event) => event.eventId),
      onTrails.map((event) => JSON.stringify(event.trails)),
    ],
  );
}

/** The listed events that exist and that the transaction may read, in no particular order. */
export async function findAssetFreeEvents(
  tx: Tx,
  wanted: readonly { tenantId: string; eventId: string }[],
): Promise<AssetFreeEvent[]> {
  if (wanted.length === 0) return [];
  const rows = await tx.query<{
    tenant_id: string;
    event_id: string;
    attributes: Record<string, unknown>;
    trails: string[];
    event_type: string;
    creator_issuer: string;
    created_by: string;
    created_at_ms: bigint;
  }>(
    `SELECT e.tenant_id, e.event_id, e.attributes, e.trails, e.event_type, e.creator_issuer, e.created_by, e.created_at_ms
       FROM unnest($1::uuid[], $2::uuid[]) AS wanted(tenant_id, event_id)
       JOIN archivist.asset_free_event e USING (tenant_id, event_id)`,
    [wanted.map((event) => event.tenantId), wanted.map((event) => event.eventId)],
  );
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    eventId: row.event_id,
    attributes: row.attributes,
    trails: row.trails,
    eventType: row.event_type,
    creatorIssuer: row.creator_issuer,
    createdBy: row.created_by,
    createdAtMs: row.created_at_ms,
  }));
}
