import { permits, visibilityOf } from '../../iam/access/permits.js';
import { commits, type EntryCommit } from '../../ledger/entry-proof.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { type Condition, condition } from '../../platform/listing/condition.js';
import { listOrder } from '../../platform/listing/list-order.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { readListQuery } from '../../platform/listing/list-query.js';
import type { Tx } from '../../platform/postgres/database.js';
import { findAssets } from '../assets/asset-store.js';
import { requireAsset, requirePublicAsset } from '../assets/read-assets.js';
import { transactionsOfEvents } from '../chain/chain-store.js';
import { tenancyLog } from '../deployment.js';
import { type ProvenanceDeps, readScope } from '../provenance-deps.js';
import { type AssetEvent, type AssetForm, assetEventResponse } from './asset-event.js';
import { assetEventConditions, visibleAssetEvents } from './asset-event-filter-store.js';
import { countAssetEvents, findAssetEvents, listAssetEvents } from './asset-event-store.js';
import { eventCommits } from './event-commits.js';

export interface EventAddress {
  readonly assetId: string;
  readonly eventId: string;
}

/** An event that this principal may read: its own, or one on an asset that it may read. @throws {ApiError} not_found */
export async function requireAssetEvent(tx: Tx, principal: Principal, address: EventAddress): Promise<AssetEvent> {
  const { tenantId } = principal;
  const [event] = await findAssetEvents(tx, [{ tenantId, eventId: address.eventId }]);
  if (event?.assetId !== address.assetId) throw noSuchEvent();
  const { issuer: creatorIssuer, subject: creatorSubject } = event.principalAccepted;
  if (permits(principal, 'read', { kind: 'asset_event', tenantId, creatorIssuer, creatorSubject })) return event;
  const [asset] = await findAssets(tx, [{ tenantId, assetId: address.assetId }]);
  if (!asset || !permits(principal, 'read', { kind: 'asset', ...asset })) throw noSuchEvent();
  return event;
}

/** The public form of an event. @throws {ApiError} not_found */
export async function requirePublicEvent(tx: Tx, publicTenancy: string, address: EventAddress): Promise<AssetEvent> {
  const [event] = await findAssetEvents(tx, [{ tenantId: publicTenancy, eventId: address.eventId }]);
  if (event?.assetId !== address.assetId) throw noSuchEvent();
  return event;
}

/** Where the log of the event's own tenancy has it. */
export async function commitOf(tx: Tx, event: { tenantId: string; eventId: string }): Promise<EntryCommit | undefined> {
  return (await commits(tx, tenancyLog(event.tenantId), [event.eventId])).get(event.eventId);
}

/** Events of one tenancy as the interface shows them, in their order. */
export async function shownEvents(
  tx: Tx,
  tenantId: string,
  events: readonly AssetEvent[],
  form: AssetForm = 'assets',
): Promise<Record<string, unknown>[]> {
  const known = await eventCommits(tx, tenantId, events);
  const confirmed = events.flatMap(({ eventId }) => {
    const seal = known.get(eventId)?.published?.sealNumber;
    return seal === undefined ? [] : [{ eventId, seal }];
  });
  const transactions = await transactionsOfEvents(tx, tenantId, confirmed);
  return events.map((event) =>
    assetEventResponse(event, known.get(event.eventId), form, transactions.get(event.eventId)),
  );
}

async function shownEvent(tx: Tx, event: AssetEvent, form: AssetForm = 'assets'): Promise<Record<string, unknown>> {
  return (await shownEvents(tx, event.tenantId, [event], form))[0]!;
}

export function readAssetEvent(
  deps: ProvenanceDeps,
  principal: Principal,
  address: EventAddress,
): Promise<Record<string, unknown>> {
  return deps.database.inTransaction(readScope(deps.deployment, principal.tenantId), async (tx) => {
    const event = await requireAssetEvent(tx, principal, address);
    return shownEvent(tx, event);
  });
}

export function readPublicAssetEvent(deps: ProvenanceDeps, address: EventAddress): Promise<Record<string, unknown>> {
  const { publicTenancy } = deps.deployment;
  return deps.database.inTransaction({ read: [publicTenancy], write: [] }, async (tx) => {
    const event = await requirePublicEvent(tx, publicTenancy, address);
    return shownEvent(tx, event, 'publicassets');
  });
}

export interface EventListRequest {
  readonly query: Readonly<Record<string, unknown>>;
  /** Events of this asset; of all assets when undefined. */
  readonly assetId: string | undefined;
  readonly exactTotal: boolean;
}

/** A page of the events that the principal may see. */
export function listOwnAssetEvents(
  deps: ProvenanceDeps,
  principal: Principal,
  request: EventListRequest,
): Promise<Page<Record<string, unknown>>> {
  const { tenantId } = principal;
  const list = `events ${tenantId} ${principal.issuer} ${principal.subject} ${request.assetId ?? '-'}`;
  return deps.database.inTransaction(readScope(deps.deployment, tenantId), async (tx) => {
    if (request.assetId !== undefined) await requireAsset(tx, principal, request.assetId);
    return eventPage(tx, deps, request, {
      list,
      tenantId,
      visible: visibleAssetEvents(tenantId, visibilityOf(principal)),
    });
  });
}

/** A page of public events. */
export function listPublicAssetEvents(
  deps: ProvenanceDeps,
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
      { list, tenantId, visible: visibleAssetEvents(tenantId, 'all') },
      'publicassets',
    );
  });
}

async function eventPage(
  tx: Tx,
  deps: ProvenanceDeps,
  request: EventListRequest,
  from: { list: string; tenantId: string; visible: readonly Condition[] },
  form: AssetForm = 'assets',
): Promise<Page<Record<string, unknown>>> {
  const query = readListQuery(request.query, from.list, deps.pageTokens);
  const order = listOrder(query.filters);
  const ofAsset = request.assetId === undefined ? [] : [condition('e.asset_id = ?', request.assetId)];
  const conditions = [...from.visible, ...ofAsset, ...assetEventConditions(query.filters)];
  const reader = {
    idColumn: 'e.event_id',
    idOf: (event: AssetEvent) => event.eventId,
    list: (all: readonly Condition[], limit: number) => listAssetEvents(tx, all, limit, order),
    count: (all: readonly Condition[], limit?: number) => countAssetEvents(tx, all, limit),
  };
  const { exactTotal } = request;
  const page = await listPage(reader, {
    list: from.list,
    query,
    conditions,
    exactTotal,
    order,
    tokens: deps.pageTokens,
  });
  return { ...page, entries: await shownEvents(tx, from.tenantId, page.entries, form) };
}

function noSuchEvent(): ApiError {
  return new ApiError('not_found', 'There is no such event.');
}
