import { tellSkipped } from '../../iam/access/policy-limits.js';
import { readAccess, visibleTenancies } from '../../iam/access/read-access.js';
import type { EntryCommit } from '../../ledger/entry-proof.js';
import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Condition } from '../../platform/listing/condition.js';
import { listOrder } from '../../platform/listing/list-order.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { readListQuery } from '../../platform/listing/list-query.js';
import type { Tx } from '../../platform/postgres/database.js';
import { keepPlans } from '../../platform/postgres/kept-plans.js';
import { readTimestamp, timestampOf } from '../../platform/timestamps.js';
import { commitsOf } from '../commits-of.js';
import { type ConfirmationStatus, confirmationStatus, neverWitnessed } from '../confirmation.js';
import { branchedReader } from '../listing/branched-reader.js';
import { progressConditions } from '../listing/progress-conditions.js';
import { type ListDeps, publicByIdScope, type ReadDeps, readByIdScope, readScope } from '../read-scope.js';
import { type Asset, type AssetForm, assetResponse } from './asset.js';
import { assetConditions, NEW_ASSET_ENTRY } from './asset-filter-store.js';
import { narrowedAssets } from './asset-narrowing-store.js';
import { countAssets, findAssets, listAssets, pastStates } from './asset-store.js';
import { readableAttributes, readableTracking, visibleAssets } from './asset-visibility-store.js';
import { lookAtAssets, noSuchAsset, type ShownAsset, seeAsset, shownAssets, shownPortion } from './see-asset.js';

export interface ReadAssetDeps extends ReadDeps {
  readonly clock: Clock;
}

/**
 * Returns an asset as this principal sees it, without the attributes that it may not read.
 * @throws {ApiError} not_found for an asset that it may not see or that does not exist
 */
export async function requireAsset(tx: Tx, principal: Principal, assetId: string): Promise<Asset> {
  return (await shownAssets(tx, [await seeAsset(tx, await readAccess(tx, principal), assetId)]))[0]!;
}

/** The public form of an asset. @throws {ApiError} not_found */
export async function requirePublicAsset(tx: Tx, publicTenancy: string, assetId: string): Promise<Asset> {
  const [asset] = await findAssets(tx, [{ tenantId: publicTenancy, assetId }]);
  if (!asset) throw noSuchAsset();
  return asset;
}

/** Reads one asset, now or as it was at a time. */
export function readAsset(
  deps: ReadAssetDeps,
  principal: Principal,
  assetId: string,
  atTime?: string,
): Promise<Record<string, unknown>> {
  return deps.database.inTransaction(readByIdScope(deps.deployment, principal.tenantId), async (tx) => {
    const seen = await seeAsset(tx, await readAccess(tx, principal), assetId);
    const now = timestampOf(deps.clock.now());
    if (!atTime) return (await allShown(tx, await shownAssets(tx, [seen]), now))[0]!;
    const at = readTimestamp(atTime, 'at_time');
    const time = new Date(at.unixMs);
    if (seen.asset.createdAt > time) throw notYetCreated();
    return (await allShown(tx, await shownAssets(tx, [seen], time), at.text))[0]!;
  });
}

/** Reads one public asset as an anonymous reader sees it, now or as it was at a time. */
export function readPublicAsset(
  deps: ReadAssetDeps,
  assetId: string,
  atTime?: string,
): Promise<Record<string, unknown>> {
  const { publicTenancy } = deps.deployment;
  return deps.database.inTransaction(publicByIdScope(deps.deployment), async (tx) => {
    const asset = await requirePublicAsset(tx, publicTenancy, assetId);
    if (!atTime) return (await allShown(tx, [asset], timestampOf(deps.clock.now()), 'publicassets'))[0]!;
    const at = readTimestamp(atTime, 'at_time');
    return (await allShown(tx, [await assetAt(tx, asset, new Date(at.unixMs))], at.text, 'publicassets'))[0]!;
  });
}

/** Lists a page of the assets that the principal may see, newest first. */
export function listOwnAssets(
  deps: ReadAssetDeps & ListDeps,
  principal: Principal,
  request: { query: Readonly<Record<string, unknown>>; exactTotal: boolean },
): Promise<Page<Record<string, unknown>>> {
  const list = `assets ${principal.tenantId} ${principal.issuer} ${principal.subject}`;
  const query = readListQuery(request.query, list, deps.pageTokens);
  const order = listOrder(query.filters);
  return deps.database.inTransaction(readScope(deps.deployment, principal.tenantId), async (tx) => {
    const access = await readAccess(tx, principal);
    tellSkipped(deps.logger, access);
    const branches: Condition[][] = [];
    for (const tenantId of visibleTenancies(access))
      branches.push([
        ...visibleAssets(access, tenantId),
        ...(await narrowedAssets(tx, access, tenantId)),
        ...assetConditions(query.filters, readableAttributes(access, tenantId), readableTracking(access, tenantId)),
        ...(await progressConditions(tx, tenantId, NEW_ASSET_ENTRY, query.filters)),
      ]);
    const reader = {
      idColumn: 'a.asset_id',
      idOf: (asset: ShownAsset) => asset.assetId,
      async list(all: readonly Condition[], limit: number) {
        const found = await listAssets(tx, all, limit, order);
        const { rows, cut } = await shownPortion(tx, await lookAtAssets(tx, access, found.rows));
        return cut ? { rows, cut } : { ...found, rows };
      },
      count: (all: readonly Condition[], limit?: number) => countAssets(tx, all, limit),
      order,
    };
    const { exactTotal } = request;
    const page = await listPage(branchedReader(reader, branches), {
      list,
      query,
      conditions: [],
      exactTotal,
      tokens: deps.pageTokens,
    });
    const [, entries] = await Promise.all([keepPlans(tx), allShown(tx, page.entries, timestampOf(deps.clock.now()))]);
    return { ...page, entries };
  });
}

/**
 * Assets in their order, each with its progress in the log of its own tenancy.
 * @param atTime the time that the data is from, unless the asset names an earlier one
 */
export async function allShown(
  tx: Tx,
  assets: readonly ShownAsset[],
  atTime: string,
  form: AssetForm = 'assets',
): Promise<Record<string, unknown>[]> {
  const known = await commitsOf(
    tx,
    assets.map(({ tenantId, newAssetEventId: eventId }) => ({ tenantId, eventId })),
  );
  return assets.map((asset) => {
    const from = asset.asOf ? timestampOf(asset.asOf.getTime()) : atTime;
    return assetResponse(asset, { status: statusOf(asset, known), atTime: from, form });
  });
}

function statusOf(asset: Asset, known: ReadonlyMap<string, EntryCommit>): ConfirmationStatus {
  const commit = known.get(asset.newAssetEventId);
  return confirmationStatus(asset.proofMechanism === 'SIMPLE_HASH' ? neverWitnessed(commit) : commit);
}

/** Attributes and tracking after the events accepted until then. @throws {ApiError} not_found before it was created */
export async function assetAt(tx: Tx, asset: Asset, until: Date): Promise<Asset> {
  if (asset.createdAt > until) throw notYetCreated();
  const [past] = await pastStates(tx, [{ ...asset, until }]);
  const { attributes, tracked } = past!;
  return { ...asset, attributes, tracked };
}

function notYetCreated(): ApiError {
  return new ApiError('not_found', 'The asset did not exist at that time.');
}
