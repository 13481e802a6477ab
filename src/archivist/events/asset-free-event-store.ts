import type { Condition } from '../../platform/listing/condition.js';
import type { ListTotal } from '../../platform/listing/list-page.js';
import { type Portion, readPortion } from '../../platform/listing/portion-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { SqlStatement, Tx } from '../../platform/postgres/database.js';
import { insertsOf } from '../../platform/postgres/insert-rows.js';
import { rowsById } from '../../platform/postgres/rows-by-id.js';
import { countRows, listByTerms } from '../listing/term-list-store.js';
import type { AssetFreeEvent } from './asset-free-event.js';

const EVENT = table('asset_free_event').columns<AssetFreeEvent>({
  tenantId: 'tenant_id',
  eventId: 'event_id',
  attributes: 'attributes',
  trails: 'trails',
  eventType: 'event_type',
  creatorIssuer: 'creator_issuer',
  createdBy: 'created_by',
  createdAtMs: 'created_at_ms',
});

const COLUMNS = selected(EVENT, 'e');

/** Columns that can be long. */
const LARGE = ['attributes', 'trails'] as const;

const TERMS = {
  table: 'archivist.asset_free_event',
  alias: 'e',
  idColumn: 'e.event_id',
  idMember: 'eventId',
  find: 'archivist.find_asset_free_events',
  count: 'archivist.count_asset_free_events',
} as const;

/** The beginning of a trail of an event, by which searches find it. */
interface EventTrail {
  readonly tenantId: string;
  readonly trailStart: string;
  readonly eventId: string;
}

const TRAIL = table('asset_free_event_trail').columns<EventTrail>({
  tenantId: 'tenant_id',
  trailStart: 'trail_start',
  eventId: 'event_id',
});
/** Characters of a trail's start: so many that an index has room for them. */
const TRAIL_START = 256;

/** Inserts accepted events and the trails that searches find them by. */
export function* insertAssetFreeEvents(events: readonly AssetFreeEvent[]): Generator<SqlStatement> {
  yield* insertsOf(EVENT, events);
  yield* insertsOf(TRAIL, events.flatMap(trailsOf));
}

function trailsOf({ tenantId, eventId, trails }: AssetFreeEvent): EventTrail[] {
  const starts = new Set(trails.map((trail) => Array.from(trail).slice(0, TRAIL_START).join('')));
  return [...starts].map((trailStart) => ({ tenantId, trailStart, eventId }));
}

/** The listed events that exist and that the transaction may read, in no particular order. */
export async function findAssetFreeEvents(
  tx: Tx,
  wanted: readonly { tenantId: string; eventId: string }[],
): Promise<AssetFreeEvent[]> {
  if (wanted.length === 0) return [];
  return tx.query<AssetFreeEvent>(`SELECT ${COLUMNS} ${rowsById('asset_free_event', 'event_id', 'e')}`, [
    wanted.map((event) => event.tenantId),
    wanted.map((event) => event.eventId),
  ]);
}

/** The listed events that exist, in the order given: all of them, or the first ones if they are large. */
export function findAssetFreeEventPortion(
  tx: Tx,
  wanted: readonly { tenantId: string; eventId: string }[],
  bytes: number,
): Promise<Portion<AssetFreeEvent>> {
  return readPortion<AssetFreeEvent>(tx, {
    sql: `SELECT ${COLUMNS}, wanted.place ${rowsById('asset_free_event', 'event_id', 'e')}`,
    values: [wanted.map((event) => event.tenantId), wanted.map((event) => event.eventId)],
    large: LARGE,
    orderBy: 'place',
    bytes,
  });
}

/** Lists events, newest first, up to the limit or fewer large ones; `conditions` refer to the event as `e`. */
export async function listAssetFreeEvents(
  tx: Tx,
  conditions: readonly Condition[],
  limit: number,
): Promise<Portion<AssetFreeEvent>> {
  const page = { columns: COLUMNS, large: LARGE, limit, order: 'newest' } as const;
  return listByTerms<AssetFreeEvent>(tx, TERMS, conditions, page);
}

/** Counts the events that meet the conditions, up to `limit` if one is given. */
export function countAssetFreeEvents(tx: Tx, conditions: readonly Condition[], limit?: number): Promise<ListTotal> {
  return countRows(tx, TERMS, conditions, limit);
}
