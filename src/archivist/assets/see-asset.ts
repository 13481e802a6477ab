import { type AssetView, assetView } from '../../iam/access/asset-view.js';
import { type Access, visibleTenancies } from '../../iam/access/open-access.js';
import { pastShowings } from '../../iam/access/past-grant-store.js';
import { ApiError } from '../../platform/errors.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Asset } from './asset.js';
import { assetsAt, findAssets } from './asset-store.js';

/** An asset in full, and the caller's view of it. Responses must always pass through the view. */
interface SeenAsset {
  readonly asset: Asset;
  readonly view: AssetView;
}

/** Returns an asset of any tenancy that this access sees. @throws {ApiError} not_found for any other asset */
export async function seeAsset(tx: Tx, access: Access, assetId: string): Promise<SeenAsset> {
  const seen = await lookAtAsset(tx, access, assetId);
  if (!seen?.view.visible) throw noSuchAsset();
  return seen;
}

/**
 * Returns an asset with the caller's view of it, even if the view shows nothing. If several tenancies have the asset,
 * the caller's own row is used.
 */
export async function lookAtAsset(tx: Tx, access: Access, assetId: string): Promise<SeenAsset | undefined> {
  const { principal } = access;
  const tenancies = visibleTenancies(access);
  const found = await findAssets(
    tx,
    tenancies.map((tenantId) => ({ tenantId, assetId })),
  );
  const asset = found.find(({ tenantId }) => tenantId === principal.tenantId) ?? found[0];
  return asset && (await lookAtAssets(tx, access, [asset]))[0];
}

/** Adds the caller's view to each of these assets. */
export async function lookAtAssets(tx: Tx, access: Access, assets: readonly Asset[]): Promise<SeenAsset[]> {
  const { principal, grants } = access;
  const past = await pastShowings(tx, access.past, assets);
  return assets.map((asset) => ({ asset, view: assetView(principal, asset, grants, past.get(asset.assetId)) }));
}

/** An asset as the caller sees it. */
export interface ShownAsset extends Asset {
  /** Set if only ended shares show the asset: the time that the data is from. */
  readonly asOf?: Date;
}

/**
 * Each asset as the caller sees it, now or at a past time. Today's policies over today's attributes also decide about
 * the past. What only an ended share shows is as of its end.
 */
export async function shownAssets(tx: Tx, seen: readonly SeenAsset[], time?: Date): Promise<ShownAsset[]> {
  const moments = seen.map(({ view }) => momentsOf(view, time));
  const old = await assetsAt(
    tx,
    seen.flatMap(({ asset: { tenantId, assetId } }, place) =>
      moments[place]!.map((until) => ({ tenantId, assetId, until })),
    ),
  );
  return seen.map(({ asset, view }, place) => {
    const at = (moment: Date) => old.get(`${asset.assetId} ${moment.getTime()}`)!;
    const versions = [
      ...(time ? [] : [{ moment: undefined, attributes: asset.attributes }]),
      ...moments[place]!.map((moment) => ({ moment, ...at(moment) })),
    ];
    const attributes = versions.flatMap((version) =>
      Object.entries(version.attributes).filter(([name]) => isFrom(view.attributeTime(name), time, version.moment)),
    );
    const end = earlier(view.asOf, time);
    return {
      ...asset,
      attributes: Object.fromEntries(attributes),
      behaviours: asset.behaviours.filter((behaviour) => view.readsBehaviour(behaviour)),
      ...(end && { tracked: at(end).tracked }),
      ...(view.asOf && end === view.asOf && { asOf: end }),
    };
  });
}

/** The past moments of which the caller may read something, each once. */
function momentsOf({ pastTimes }: AssetView, time: Date | undefined): Date[] {
  const moments = pastTimes.flatMap((until) => earlier(until, time) ?? []);
  return [...new Map([...moments, ...(time ? [time] : [])].map((each) => [each.getTime(), each])).values()];
}

/** True if the attribute, which the caller reads as of `readable`, is shown as it was at this moment. */
function isFrom(readable: 'now' | Date | undefined, time: Date | undefined, moment: Date | undefined): boolean {
  if (readable === undefined) return false;
  return (readable === 'now' ? time : earlier(readable, time))?.getTime() === moment?.getTime();
}

function earlier(one: Date | undefined, other: Date | undefined): Date | undefined {
  return one && (!other || one < other) ? one : other;
}

export function noSuchAsset(): ApiError {
  return new ApiError('not_found', 'There is no such asset.');
}
