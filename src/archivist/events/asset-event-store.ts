import type { Condition } from '../../platform/listing/condition.js';
import type { ListOrder } from '../../platform/listing/list-order.js';
import type { ListTotal } from '../../platform/listing/list-page.js';
import { type Portion, readPortion } from '../../platform/listing/portion-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { SqlStatement, Tx } from '../../platform/postgres/database.js';
import { insertsOf } from '../../platform/postgres/insert-rows.js';
import { rowsById } from '../../platform/postgres/rows-by-id.js';
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
export function insertAssetEvents(events: readonly AssetEvent[]): Iterable<SqlStatement> {
  return insertsOf(EVENT, events);
}

/** The listed events that exist and that the transaction may read, in no particular order. */
export async function findAssetEvents(
  tx: Tx,
  wanted: readonly { tenantId: string; eventId: string }[],
): Promise<AssetEvent[]> {
  if (wanted.length === 0) return [];
  return tx.query<AssetEvent>(`SELECT ${COLUMNS} ${rowsById('asset_event', 'event_id', 'e')}`, [
    wanted.map((event) => event.tenantId),
    wanted.map((event) => event.eventId),
  ]);
}

/** The listed events that exist, in the order given: all of them, or the first ones if they are large. */
export function findAssetEventPortion(
  tx: Tx,
  wanted: readonly { tenantId: string; eventId: string }[],
  bytes: number,
): Promise<Portion<AssetEvent>> {
  return readPortion<AssetEvent>(tx, {
    sql: `SELECT ${COLUMNS}, wanted.place ${rowsById('asset_event', 'event_id', 'e')}`,
    values: [wanted.map((event) => event.tenantId), wanted.map((event) => event.eventId)],
    large: LARGE,
    orderBy: 'place',
    bytes,
  });
}

/** Only the event attributes of the listed events, for signing: in measurements, half the cost of whole rows. */
export async function findEventAttributes(
  tx: Tx,
  wanted: readonly { tenantId: string; eventId: string }[],
): Promise<{ eventId: string; originTenantId: string; eventAttributes: Record<string, unknown> }[]> {
  return tx.query(
    `SELECT ${selected(EVENT, 'e', ['eventId', 'originTenantId', 'eventAttributes'])} ${rowsById('asset_event', 'event_id', 'e')}`,
    [wanted.map((event) => event.tenantId), wanted.map((event) => event.eventId)],
  );
}

/** Lists events up to the limit, or fewer large ones; `conditions` refer to the event as `e`. */
export async function listAssetEvents(
  tx: Tx,
  conditions: readonly Condition[],
  limit: number,
  order: ListOrder,
): Promise<Portion<AssetEvent>> {
  const page = { columns: COLUMNS, large: LARGE, limit, order };
  return listByTerms<AssetEvent>(tx, TERMS, conditions, page);
}

/** Counts the events that meet the conditions, up to `limit` if one is given. */
export function countAssetEvents(tx: Tx, conditions: readonly Condition[], limit?: number): Promise<ListTotal> {
  return countRows(tx, TERMS, conditions, limit);
}
