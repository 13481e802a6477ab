import type { AssetView } from '../../iam/access/asset-view.js';
import { tellSkipped } from '../../iam/access/policy-limits.js';
import { type Access, readAccess, visibleTenancies } from '../../iam/access/read-access.js';
import { commits, type EntryCommit } from '../../ledger/entry-proof.js';
import { tenancyLog } from '../../ledger/log.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { inPieces } from '../../platform/in-pieces.js';
import { type Condition, condition, meaning } from '../../platform/listing/condition.js';
import { listOrder } from '../../platform/listing/list-order.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { readListQuery } from '../../platform/listing/list-query.js';
import type { Tx } from '../../platform/postgres/database.js';
import { keepPlans } from '../../platform/postgres/kept-plans.js';
import type { Asset, AssetForm } from '../assets/asset.js';
import { findAssetPortion, findAssets } from '../assets/asset-store.js';
import { readableAttributes } from '../assets/asset-visibility-store.js';
import { requirePublicAsset } from '../assets/read-assets.js';
import { lookAtAsset, lookAtAssets, noSuchAsset } from '../assets/see-asset.js';
import { acceptedRange } from '../listing/accepted-range-store.js';
import { branchedReader } from '../listing/branched-reader.js';
import { progressConditions } from '../listing/progress-conditions.js';
import { type ListDeps, publicByIdScope, type ReadDeps, readByIdScope, readScope } from '../read-scope.js';
import { type AssetEvent, assetEventResponse } from './asset-event.js';
import {
  assetEventConditions,
  type CountedAttributes,
  EVENT_ENTRY,
  EVERY_ATTRIBUTE,
} from './asset-event-filter-store.js';
import { countAssetEvents, findAssetEvents, listAssetEvents } from './asset-event-store.js';
import {
  assetEventsOf,
  narrowedAssetEvents,
  readableChanges,
  visibleAssetEvents,
} from './asset-event-visibility-store.js';
import { eventCommits } from './event-commits.js';
import { transactionsOfEvents } from './event-transaction-store.js';

export interface EventAddress {
  readonly assetId: string;
  readonly eventId: string;
}

/**
 * Returns an event as this principal sees it: one that it recorded, or of a kind that it may read on that asset.
 * Changes to the asset that it may not read are left out, and `redacted` says so.
 * @throws {ApiError} not_found
 */
export async function requireAssetEvent(tx: Tx, principal: Principal, address: EventAddress): Promise<AssetEvent> {
  return (await seeAssetEvent(tx, principal, address)).event;
}

/** The same, with the event's asset in full. @throws {ApiError} not_found */
export async function seeAssetEvent(
  tx: Tx,
  principal: Principal,
  address: EventAddress,
): Promise<{ readonly event: AssetEvent; readonly asset: Asset }> {
  const { eventId, assetId } = address;
  // Sent in the same round trip; most callers read events of their own tenancy.
  const own = findAssetEvents(tx, [{ tenantId: principal.tenantId, eventId }]);
  const ownAsset = findAssets(tx, [{ tenantId: principal.tenantId, assetId }]);
  const opened = readAccess(tx, principal);
  // Even if one fails: no query may follow the end of the transaction.
  await Promise.allSettled([own, ownAsset, opened]);
  const seen = await lookAtAsset(tx, await opened, assetId, (await ownAsset)[0]);
  if (!seen) throw noSuchEvent();
  const { tenantId } = seen.asset;
  const [event] = tenantId === principal.tenantId ? await own : await findAssetEvents(tx, [{ tenantId, eventId }]);
  if (event?.assetId !== assetId || !seen.view.readsEvent(event)) throw noSuchEvent();
  return { event: shownAssetEvent(event, seen.view), asset: seen.asset };
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Returns those of these events that this principal may read, as it sees them. Reads their assets in portions, because
 * short events can be of long assets.
 */
export async function readableEvents(tx: Tx, access: Access, events: readonly AssetEvent[]): Promise<AssetEvent[]> {
  const shown = new Map<string, AssetEvent>();
  const keyOf = ({ tenantId, assetId }: { tenantId: string; assetId: string }) => `${tenantId} ${assetId}`;
  const wanted = [
    ...new Map(events.map(({ tenantId, assetId }) => [keyOf({ tenantId, assetId }), { tenantId, assetId }])).values(),
  ];
  let after = { tenantId: NO_ID, assetId: NO_ID };
  for (let more = wanted.length > 0; more; ) {
    const { rows, cut } = await findAssetPortion(tx, wanted, after);
    const seen = await lookAtAssets(tx, access, rows);
    const views = new Map(seen.map(({ asset, view }) => [keyOf(asset), view]));
    await inPieces(events, (event) => {
      const view = views.get(keyOf(event));
      if (view?.readsEvent(event)) shown.set(event.eventId, shownAssetEvent(event, view));
    });
    after = rows.at(-1) ?? after;
    more = cut;
  }
  return events.flatMap(({ eventId }) => shown.get(eventId) ?? []);
}

function shownAssetEvent(event: AssetEvent, view: AssetView): AssetEvent {
  if (view.readsWholeEvent(event)) return event;
  const shown = Object.entries(event.assetAttributes).filter(([name]) => view.readsChange(event, name));
  return { ...event, assetAttributes: Object.fromEntries(shown), redacted: true };
}

/** The public form of an event. @throws {ApiError} not_found */
export async function requirePublicEvent(tx: Tx, publicTenancy: string, address: EventAddress): Promise<AssetEvent> {
  const [event] = await findAssetEvents(tx, [{ tenantId: publicTenancy, eventId: address.eventId }]);
  if (event?.assetId !== address.assetId) throw noSuchEvent();
  return event;
}

/** The position of the event in the log of its own tenancy. */
export async function commitOf(
  tx: Tx,
  kind: 'asset_event' | 'asset_free_event',
  { tenantId, eventId }: { readonly tenantId: string; readonly eventId: string },
): Promise<EntryCommit | undefined> {
  return (await commits(tx, tenancyLog(tenantId), kind, [eventId])).get(eventId);
}

/** Events of any tenancies as the interface shows them, in their order. */
export async function shownEvents(
  tx: Tx,
  events: readonly AssetEvent[],
  form: AssetForm = 'assets',
): Promise<Record<string, unknown>[]> {
  const shown = new Map<string, Record<string, unknown>>();
  for (const tenantId of new Set(events.map((event) => event.tenantId))) {
    const own = events.filter((event) => event.tenantId === tenantId);
    const responses = await responsesOf(tx, tenantId, own, await eventCommits(tx, tenantId, own), form);
    for (const [place, { eventId }] of own.entries()) shown.set(eventId, responses[place]!);
  }
  return events.map(({ eventId }) => shown.get(eventId)!);
}

async function responsesOf(
  tx: Tx,
  tenantId: string,
  events: readonly AssetEvent[],
  known: ReadonlyMap<string, EntryCommit>,
  form: AssetForm,
): Promise<Record<string, unknown>[]> {
  const confirmed = events.flatMap(({ eventId }) => {
    const seal = known.get(eventId)?.published?.sealNumber;
    return seal === undefined ? [] : [{ eventId, seal }];
  });
  const transactions = await transactionsOfEvents(tx, tenantId, confirmed);
  return events.map((event) =>
    assetEventResponse(event, known.get(event.eventId), form, transactions.get(event.eventId)),
  );
}

export function readAssetEvent(
  deps: ReadDeps,
  principal: Principal,
  address: EventAddress,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  return deps.database.inTransaction(readByIdScope(deps.deployment, tenantId), async (tx) => {
    // Sent in the same round trip as the event.
    const progress = eventCommits(tx, tenantId, [address]);
    const read = requireAssetEvent(tx, principal, address);
    await Promise.allSettled([progress, read]);
    const event = await read;
    const known = event.tenantId === tenantId ? await progress : await eventCommits(tx, event.tenantId, [event]);
    return (await responsesOf(tx, event.tenantId, [event], known, 'assets'))[0]!;
  });
}

export function readPublicAssetEvent(deps: ReadDeps, address: EventAddress): Promise<Record<string, unknown>> {
  const { publicTenancy } = deps.deployment;
  return deps.database.inTransaction(publicByIdScope(deps.deployment), async (tx) => {
    const event = await requirePublicEvent(tx, publicTenancy, address);
    return (await shownEvents(tx, [event], 'publicassets'))[0]!;
  });
}

interface EventListRequest {
  readonly query: Readonly<Record<string, unknown>>;
  /** Events of this asset; of all assets if undefined. */
  readonly assetId: string | undefined;
  readonly exactTotal: boolean;
}

/** Lists a page of the events that the principal may see. */
export function listOwnAssetEvents(
  deps: ListDeps,
  principal: Principal,
  request: EventListRequest,
): Promise<Page<Record<string, unknown>>> {
  const { tenantId } = principal;
  const list = `events ${tenantId} ${principal.issuer} ${principal.subject} ${request.assetId ?? '-'}`;
  return deps.database.inTransaction(readScope(deps.deployment, tenantId), async (tx) => {
    const access = await readAccess(tx, principal);
    tellSkipped(deps.logger, access);
    if (request.assetId !== undefined) {
      // A principal that may only record on an asset still sees what it has recorded there.
      const seen = await lookAtAsset(tx, access, request.assetId);
      if (!seen?.view.visible && !seen?.view.records) throw noSuchAsset();
    }
    const branches: Branch[] = [];
    for (const each of visibleTenancies(access)) {
      // The events of one asset have an index of their own, which needs no narrowing.
      const narrowed = request.assetId === undefined ? await narrowedAssetEvents(tx, access, each) : [];
      branches.push({
        tenantId: each,
        visible: [...visibleAssetEvents(access, each), ...narrowed],
        attributes: { ofAsset: readableAttributes(access, each), changed: readableChanges(access, each) },
      });
    }
    return eventPage(tx, deps, request, { list, branches, shown: (events) => readableEvents(tx, access, events) });
  });
}

/** Lists a page of public events. */
export function listPublicAssetEvents(
  deps: ListDeps,
  request: EventListRequest,
): Promise<Page<Record<string, unknown>>> {
  const { publicTenancy: tenantId } = deps.deployment;
  const list = `public events ${request.assetId ?? '-'}`;
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    if (request.assetId !== undefined) await requirePublicAsset(tx, tenantId, request.assetId);
    return eventPage(
      tx,
      deps,
      request,
      { list, branches: [{ tenantId, visible: assetEventsOf(tenantId), attributes: EVERY_ATTRIBUTE }] },
      'publicassets',
    );
  });
}

/** The part of a list that comes from one tenancy. */
interface Branch {
  readonly tenantId: string;
  readonly visible: readonly Condition[];
  readonly attributes: CountedAttributes;
}

async function eventPage(
  tx: Tx,
  deps: ListDeps,
  request: EventListRequest,
  from: {
    readonly list: string;
    /** The caller's own tenancy first. */
    readonly branches: readonly Branch[];
    /** Limits the events that were found to what the caller may see of them. */
    shown?(events: AssetEvent[]): Promise<AssetEvent[]>;
  },
  form: AssetForm = 'assets',
): Promise<Page<Record<string, unknown>>> {
  const query = readListQuery(request.query, from.list, deps.pageTokens);
  const order = listOrder(query.filters);
  const ofAsset =
    request.assetId === undefined ? [] : [meaning({ kind: 'parent' }, condition('e.asset_id = ?', request.assetId))];
  // The simple-hash orders of all events are those of anchors, which cover a tenancy's own: the first branch.
  const asAnchored = order === 'oldest' && request.assetId === undefined;
  const asked = asAnchored ? from.branches.slice(0, 1) : from.branches;
  const branches: Condition[][] = [];
  for (const { tenantId, visible, attributes } of asked)
    branches.push([
      ...visible,
      ...ofAsset,
      ...assetEventConditions(query.filters, attributes),
      ...(await acceptedRange(tx, tenantId, query.filters)),
      ...(await progressConditions(tx, tenantId, EVENT_ENTRY, query.filters)),
    ]);
  const reader = {
    idColumn: 'e.event_id',
    idOf: (event: AssetEvent) => event.eventId,
    list: (all: readonly Condition[], limit: number) => listAssetEvents(tx, all, limit, order),
    count: (all: readonly Condition[], limit?: number) => countAssetEvents(tx, all, limit),
    order,
  };
  const { exactTotal } = request;
  const page = await listPage(branchedReader(reader, branches), {
    list: from.list,
    query,
    conditions: [],
    exactTotal,
    tokens: deps.pageTokens,
  });
  const [, shown] = await Promise.all([keepPlans(tx), from.shown?.(page.entries) ?? page.entries]);
  return { ...page, entries: await shownEvents(tx, shown, form) };
}

function noSuchEvent(): ApiError {
  return new ApiError('not_found', 'There is no such event.');
}
