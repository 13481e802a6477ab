import { type AssetView, assetView } from '../../iam/access/asset-view.js';
import { type Access, visibleTenancies } from '../../iam/access/open-access.js';
import { pastShowings } from '../../iam/access/past-grant-store.js';
import { ApiError } from '../../platform/errors.js';
import type { Portion } from '../../platform/listing/portion-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Asset } from './asset.js';
import { findAssets, type PastState, pastStates } from './asset-store.js';

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
  const states = await statesOf(tx, seen, moments, seen.length);
  return seen.map((each, place) => shownAsset(each, moments[place]!, states[place]!, time));
}

/** The first of these assets as the caller sees them now: all of them, or fewer if their past states are large. */
export async function shownPortion(tx: Tx, seen: readonly SeenAsset[]): Promise<Portion<ShownAsset>> {
  const moments = seen.map(({ view }) => momentsOf(view, undefined));
  const states = await statesOf(tx, seen, moments, 1);
  const rows = states.map((own, place) => shownAsset(seen[place]!, moments[place]!, own, undefined));
  return { rows, cut: rows.length < seen.length };
}

/** The past states of each of the first assets: of at least so many, and of those that are read with them. */
async function statesOf(
  tx: Tx,
  seen: readonly SeenAsset[],
  moments: readonly (readonly Date[])[],
  least: number,
): Promise<PastState[][]> {
  const wanted = seen.flatMap(({ asset: { tenantId, assetId } }, place) =>
    moments[place]!.map((until) => ({ tenantId, assetId, until })),
  );
  const ends: number[] = [];
  for (const own of moments) ends.push((ends.at(-1) ?? 0) + own.length);
  const read: PastState[] = [];
  do read.push(...(await pastStates(tx, wanted.slice(read.length))));
  while (read.length < (ends[least - 1] ?? 0));
  const complete = ends.filter((end) => end <= read.length);
  return complete.map((end, place) => read.slice(end - moments[place]!.length, end));
}

function shownAsset(
  { asset, view }: SeenAsset,
  moments: readonly Date[],
  states: readonly PastState[],
  time: Date | undefined,
): ShownAsset {
  const versions = [
    ...(time ? [] : [{ moment: undefined, attributes: asset.attributes }]),
    ...moments.map((moment, place) => ({ moment, ...states[place]! })),
  ];
  const attributes = versions.flatMap((version) =>
    Object.entries(version.attributes).filter(([name]) => isFrom(view.attributeTime(name), time, version.moment)),
  );
  const end = earlier(view.asOf, time);
  return {
    ...asset,
    attributes: Object.fromEntries(attributes),
    behaviours: asset.behaviours.filter((behaviour) => view.readsBehaviour(behaviour)),
    ...(end && { tracked: states[moments.findIndex((moment) => moment.getTime() === end.getTime())]!.tracked }),
    ...(view.asOf && end === view.asOf && { asOf: end }),
  };
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
