import type { Condition } from '../../platform/listing/condition.js';
import type { ListOrder } from '../../platform/listing/list-order.js';
import { type Portion, readPortion } from '../../platform/listing/portion-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { countRows, listByTerms } from '../listing/term-list-store.js';
import type { AssetEvent } from './asset-event.js';

const EVENT = table('asset_event').columns<Omit<AssetEvent, 'redacted'>>({
  tenantId: 'tenant_id',
  eventId: 'event_id',
  assetId: 'asset_id',
  originTenantId: 'origin_tenant_id',
  operation: 'operation',
  behaviour: 'behaviour',
  eventAttributes: 'event_attributes',
  assetAttributes: 'asset_attributes',
  principalDeclared: 'principal_declared',
  principalAccepted: 'principal_accepted',
  timestampDeclared: 'timestamp_declared',
  timestampAccepted: 'timestamp_accepted',
  acceptedAt: 'accepted_at',
  fromAddress: 'from_address',
});
const COLUMNS = selected(EVENT, 'e');

/** Columns that can be long. */
const LARGE = ['eventAttributes', 'assetAttributes', 'principalDeclared', 'principalAccepted'] as const;

const TERMS = {
  table: 'archivist.asset_event',
  alias: 'e',
  idColumn: 'e.event_id',
  idMember: 'eventId',
  find: 'archivist.find_asset_events',
  count: 'archivist.count_asset_events',
} as const;

/** Inserts accepted events. */
export async function insertAssetEvents(tx: Tx, events: readonly AssetEvent[]): Promise<void> {
  await insertRows(tx, EVENT, events);
}

/** The listed events that exist and that the transaction may read, in no particular order. */
export async function findAssetEvents(
  tx: Tx,
  wanted: readonly { tenantId: string; eventId: string }[],
): Promise<AssetEvent[]> {
  if (wanted.length === 0) return [];
  return tx.query<AssetEvent>(
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
    `SELECT ${selected(EVENT, 'e', ['eventId', 'originTenantId', 'eventAttributes'])}
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
