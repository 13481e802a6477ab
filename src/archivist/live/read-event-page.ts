import { readAccess } from '../../iam/access/read-access.js';
import { SECURITY_EVENT_TYPE } from '../../iam/security/security-event.js';
import { commits } from '../../ledger/entry-proof.js';
import { type LeafRow, leafRange } from '../../ledger/leaf-store.js';
import { tenancyLog } from '../../ledger/log.js';
import { publishedLeaves } from '../../ledger/published-leaves-store.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import type { Deployment } from '../deployment.js';
import type { AssetEvent } from '../events/asset-event.js';
import { findAssetEventPortion } from '../events/asset-event-store.js';
import { type AssetFreeEvent, assetFreeEventResponse } from '../events/asset-free-event.js';
import { findAssetFreeEventPortion } from '../events/asset-free-event-store.js';
import { readableEvents, shownEvents } from '../events/read-asset-events.js';
import { readsAssetFreeEvent } from '../events/read-asset-free-event.js';
import { readScope } from '../read-scope.js';

/** Positions that are read at once, and the bytes of events of each kind after which they end. */
const PAGE = 100n;
const PAGE_BYTES = 256 * 1024;

type EventName = 'asset_event' | 'asset_free_event' | 'security_event';

/** An event at its position in the log of its tenancy. */
export interface PlacedEvent {
  readonly position: bigint;
  readonly name: EventName;
  /** As a GET of the same reader shows it. */
  readonly json: Record<string, unknown>;
}

/** Some positions of a log, read for one reader. */
export interface EventPage {
  /** Those that the reader may read now, in the order of the log. */
  readonly events: readonly PlacedEvent[];
  /** The last position that was read; reading goes on after it. */
  readonly last: bigint;
  /** Published positions wait after it. */
  readonly more: boolean;
}

/**
 * Reads the published positions of the principal's tenancy after a position, with the events that the principal may
 * read at this moment. A position is published once and for ever, and those before it as well, so reading on from `last`
 * finds each event exactly once, also one that was accepted long before it was committed.
 */
export function readEventPage(
  deps: { readonly database: Database; readonly deployment: Deployment },
  principal: Principal,
  after: bigint,
  count = PAGE,
): Promise<EventPage> {
  const { tenantId } = principal;
  const log = tenancyLog(tenantId);
  return deps.database.inTransaction(readScope(deps.deployment, tenantId), async (tx) => {
    const end = (await publishedLeaves(tx, [log])).get(log.logId) ?? 0n;
    const from = after + 1n;
    const to = from + count < end ? from + count : end;
    if (to <= from) return { events: [], last: after, more: false };
    const leaves = await leafRange(tx, log, from, to);
    const positions = new Map(leaves.map(({ entryId, leafIndex }) => [entryId, leafIndex]));
    const ofAssets = await findAssetEventPortion(tx, idsOf(leaves, 'asset_event'), PAGE_BYTES);
    const others = await findAssetFreeEventPortion(tx, idsOf(leaves, 'asset_free_event'), PAGE_BYTES);
    const ends = [ofAssets, others].flatMap(({ rows, cut }) => (cut ? [positions.get(rows.at(-1)!.eventId)!] : []));
    const last = ends.reduce((least, end) => (end < least ? end : least), to - 1n);
    const inPage = ({ eventId }: { readonly eventId: string }) => positions.get(eventId)! <= last;
    const events = [
      ...(await assetEvents(tx, principal, ofAssets.rows.filter(inPage))),
      ...(await assetFreeEvents(tx, principal, others.rows.filter(inPage))),
    ].map(({ eventId, ...event }) => ({ ...event, position: positions.get(eventId)! }));
    events.sort((left, right) => Number(left.position - right.position));
    return { events, last, more: last + 1n < end };
  });
}

function idsOf(leaves: readonly LeafRow[], kind: LeafRow['entryKind']) {
  return leaves.flatMap(({ entryKind, entryTenantId: tenantId, entryId: eventId }) =>
    entryKind === kind ? [{ tenantId, eventId }] : [],
  );
}

type ShownEvent = Omit<PlacedEvent, 'position'> & { readonly eventId: string };

async function assetEvents(tx: Tx, principal: Principal, found: readonly AssetEvent[]): Promise<ShownEvent[]> {
  if (found.length === 0) return [];
  const events = await readableEvents(tx, await readAccess(tx, principal), found);
  const shown = await shownEvents(tx, events);
  return events.map(({ eventId }, place) => ({ eventId, name: 'asset_event', json: shown[place]! }));
}

async function assetFreeEvents(tx: Tx, principal: Principal, found: readonly AssetFreeEvent[]): Promise<ShownEvent[]> {
  const events = found.filter((event) => readsAssetFreeEvent(principal, event));
  const ids = events.map(({ eventId }) => eventId);
  const committed = await commits(tx, tenancyLog(principal.tenantId), 'asset_free_event', ids);
  return events.map((event) => ({
    eventId: event.eventId,
    name: event.eventType === SECURITY_EVENT_TYPE ? 'security_event' : 'asset_free_event',
    json: assetFreeEventResponse(event, committed.get(event.eventId)),
  }));
}
