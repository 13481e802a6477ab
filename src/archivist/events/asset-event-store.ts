import { type Condition, renderWhere } from '../../platform/listing/condition.js';
import type { ListOrder } from '../../platform/listing/list-order.js';
import { countByTerms, narrowByTerms, pageOfFirstRows } from '../../platform/listing/term-search-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { PrincipalRecord } from '../principal-record.js';
import type { AssetEvent } from './asset-event.js';

interface AssetEventRow {
  tenant_id: string;
  event_id: string;
  asset_id: string;
  origin_tenant_id: string;
  operation: string;
  behaviour: string;
  event_attributes: Record<string, unknown>;
  asset_attributes: Record<string, unknown>;
  principal_declared: PrincipalRecord;
  principal_accepted: PrincipalRecord;
  timestamp_declared: string;
  timestamp_accepted: string;
  accepted_at: Date;
  from_address: string;
}

const COLUMNS = `e.tenant_id, e.event_id, e.asset_id, e.origin_tenant_id, e.operation, e.behaviour, e.event_attributes,
  e.asset_attributes, e.principal_declared, e.principal_accepted, e.timestamp_declared, e.timestamp_accepted,
  e.accepted_at, e.from_address`;

const TERMS = {
  table: 'archivist.asset_event',
  alias: 'e',
  idColumn: 'e.event_id',
  find: 'archivist.find_asset_events',
  count: 'archivist.count_asset_events',
} as const;

/** Inserts accepted events in one statement. */
export async function insertAssetEvents(tx: Tx, events: readonly AssetEvent[]): Promise<void> {
  if (events.length === 0) return;
  // One JSON document: in measurements, one array for each column cost the sender three times as much.
  await tx.execute(
    `INSERT INTO archivist.asset_event (tenant_id, event_id, asset_id, origin_tenant_id, operation, behaviour,
       event_attributes, asset_attributes, principal_declared, principal_accepted, timestamp_declared, timestamp_accepted,
       accepted_at, from_address)
     SELECT n.* FROM jsonb_to_recordset($1::jsonb) AS n("tenantId" uuid, "eventId" uuid, "assetId" uuid,
       "originTenantId" uuid, operation text, behaviour text, "eventAttributes" jsonb, "assetAttributes" jsonb,
       "principalDeclared" jsonb, "principalAccepted" jsonb, "timestampDeclared" text, "timestampAccepted" text,
       "acceptedAt" timestamptz, "fromAddress" text)`,
    [JSON.stringify(events)],
  );
}

/** The listed events that exist and that the transaction may read, in no particular order. */
export async function findAssetEvents(
  tx: Tx,
  wanted: readonly { tenantId: string; eventId: string }[],
): Promise<AssetEvent[]> {
  if (wanted.length === 0) return [];
  const rows = await tx.query<AssetEventRow>(
    `SELECT ${COLUMNS} FROM unnest($1::uuid[], $2::uuid[]) AS wanted(tenant_id, event_id)
       JOIN archivist.asset_event e USING (tenant_id, event_id)`,
    [wanted.map((event) => event.tenantId), wanted.map((event) => event.eventId)],
  );
  return rows.map(assetEventOf);
}

/** Only the event attributes of the listed events, for signing: in measurements, half the cost of whole rows. */
export async function findEventAttributes(
  tx: Tx,
  wanted: readonly { tenantId: string; eventId: string }[],
): Promise<{ eventId: string; originTenantId: string; eventAttributes: Record<string, unknown> }[]> {
  return tx.query(
    `SELECT event_id AS "eventId", origin_tenant_id AS "originTenantId", event_attributes AS "eventAttributes"
       FROM unnest($1::uuid[], $2::uuid[]) AS wanted(tenant_id, event_id)
       JOIN archivist.asset_event e USING (tenant_id, event_id)`,
    [wanted.map((event) => event.tenantId), wanted.map((event) => event.eventId)],
  );
}

/** Lists events; `conditions` refer to the event as `e`. */
export async function listAssetEvents(
  tx: Tx,
  conditions: readonly Condition[],
  limit: number,
  order: ListOrder,
): Promise<AssetEvent[]> {
  const first = await pageOfFirstRows<AssetEventRow>(tx, TERMS, conditions, { columns: COLUMNS, limit, order });
  if (first) return first.map(assetEventOf);
  const where = renderWhere(await narrowByTerms(tx, TERMS, conditions, { limit, order }));
  const rows = await tx.query<AssetEventRow>(
    `SELECT ${COLUMNS} FROM archivist.asset_event e WHERE ${where.sql}
      ORDER BY e.event_id ${order === 'newest' ? 'DESC' : 'ASC'} LIMIT ${limit}`,
    where.values,
  );
  return rows.map(assetEventOf);
}

/** Counts the events that meet the conditions, up to `limit` if one is given. */
export async function countAssetEvents(tx: Tx, conditions: readonly Condition[], limit?: number): Promise<number> {
  const counted = await countByTerms(tx, TERMS, conditions, limit);
  if (counted !== undefined) return counted;
  const where = renderWhere(await narrowByTerms(tx, TERMS, conditions));
  const [row] = await tx.query<{ total: bigint }>(
    `SELECT count(*) AS total FROM
       (SELECT 1 FROM archivist.asset_event e WHERE ${where.sql} ${limit === undefined ? '' : `LIMIT ${limit}`}) AS counted`,
    where.values,
  );
  return Number(row?.total ?? 0);
}

/** The changes of each event to its asset, in the order of acceptance, up to and including a time. */
export async function assetHistory(
  tx: Tx,
  asset: { tenantId: string; assetId: string },
  until: Date,
): Promise<{ operation: string; assetAttributes: Record<string, unknown> }[]> {
  const rows = await tx.query<{ operation: string; asset_attributes: Record<string, unknown> }>(
    `SELECT operation, asset_attributes FROM archivist.asset_event
      WHERE tenant_id = $1 AND asset_id = $2 AND accepted_at <= $3 ORDER BY event_id`,
    [asset.tenantId, asset.assetId, until],
  );
  return rows.map((row) => ({ operation: row.operation, assetAttributes: row.asset_attributes }));
}

function assetEventOf(row: AssetEventRow): AssetEvent {
  return {
    tenantId: row.tenant_id,
    eventId: row.event_id,
    assetId: row.asset_id,
    originTenantId: row.origin_tenant_id,
    operation: row.operation,
    behaviour: row.behaviour,
    eventAttributes: row.event_attributes,
    assetAttributes: row.asset_attributes,
    principalDeclared: row.principal_declared,
    principalAccepted: row.principal_accepted,
    timestampDeclared: row.timestamp_declared,
    timestampAccepted: row.timestamp_accepted,
    acceptedAt: row.accepted_at,
    fromAddress: row.from_address,
  };
}
