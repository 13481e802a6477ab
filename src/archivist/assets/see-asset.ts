import { type AssetView, assetView } from '../../iam/access/asset-view.js';
import { pastShowings } from '../../iam/access/past-grant-store.js';
import { type Access, visibleTenancies } from '../../iam/access/read-access.js';
import { ApiError } from '../../platform/errors.js';
import { inPieces } from '../../platform/in-pieces.js';
import { PORTION_BYTES, type Portion } from '../../platform/listing/portion-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Asset } from './asset.js';
import { findAssets, type PastState, pastStates } from './asset-store.js';

/** So that a statement's parameters stay short, however many shares have ended. */
const MOMENTS_ASKED = 1_000;

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
 * @param own that row, if it was read already
 */
export async function lookAtAsset(
  tx: Tx,
  access: Access,
  assetId: string,
  own?: Asset,
): Promise<SeenAsset | undefined> {
  const asset = own ?? (await visibleAsset(tx, access, assetId));
  return asset && (await lookAtAssets(tx, access, [asset]))[0];
}

async function visibleAsset(tx: Tx, access: Access, assetId: string): Promise<Asset | undefined> {
  const { principal } = access;
  const tenancies = visibleTenancies(access);
  const found = await findAssets(
    tx,
    tenancies.map((tenantId) => ({ tenantId, assetId })),
  );
  return found.find(({ tenantId }) => tenantId === principal.tenantId) ?? found[0];
}

/** Adds the caller's view to each of these assets. */
export async function lookAtAssets(tx: Tx, access: Access, assets: readonly Asset[]): Promise<SeenAsset[]> {
  const { principal, grants } = access;
  const past = await pastShowings(tx, access.past, assets);
  return inPieces(assets, (asset) => ({ asset, view: assetView(principal, asset, grants, past.get(asset.assetId)) }));
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
export function shownAssets(tx: Tx, seen: readonly SeenAsset[], time?: Date): Promise<ShownAsset[]> {
  return firstShown(tx, seen, seen.length, time);
}

/** The first of these assets as the caller sees them now: all of them, or fewer if their past states are large. */
export async function shownPortion(tx: Tx, seen: readonly SeenAsset[]): Promise<Portion<ShownAsset>> {
  const rows = await firstShown(tx, seen, 1);
  return { rows, cut: rows.length < seen.length };
}

/**
 * At least so many of the first assets, and those whose past states are read with them. Of the past states, one
 * portion is in memory at a time.
 */
async function firstShown(tx: Tx, seen: readonly SeenAsset[], least: number, time?: Date): Promise<ShownAsset[]> {
  const assembled = seen.map((each) => assembleAsset(each, time));
  const wanted = assembled.flatMap(({ asset: { tenantId, assetId }, moments, add }) =>
    moments.map((until) => ({ tenantId, assetId, until, add })),
  );
  const ends: number[] = [];
  for (const { moments } of assembled) ends.push((ends.at(-1) ?? 0) + moments.length);
  let read = 0;
  let bytes = 0;
  while (read < (ends[least - 1] ?? 0) || (read < wanted.length && bytes < PORTION_BYTES))
    for (const state of await pastStates(tx, wanted.slice(read, read + MOMENTS_ASKED))) {
      wanted[read]!.add(wanted[read]!.until, state);
      read += 1;
      bytes += state.bytes;
    }
  return assembled.slice(0, ends.filter((end) => end <= read).length).map(({ shown }) => shown());
}

/** An asset that is put together from its present state and from past ones, each of which is then no longer needed. */
interface Assembly {
  readonly asset: Asset;
  /** The past moments of which the caller may read something, each once. */
  readonly moments: readonly Date[];
  add(moment: Date, state: PastState): void;
  /** The asset, once the state of each moment was added. */
  shown(): ShownAsset;
}

function assembleAsset({ asset, view }: SeenAsset, time: Date | undefined): Assembly {
  const end = earlier(view.asOf, time);
  const attributes = new Map<string, unknown>();
  let { tracked } = asset;
  const add = (moment: Date | undefined, state: PastState): void => {
    for (const [name, value] of Object.entries(state.attributes))
      if (isFrom(view.attributeTime(name), time, moment)) attributes.set(name, value);
    if (end && moment?.getTime() === end.getTime()) tracked = state.tracked;
  };
  if (!time) add(undefined, asset);
  return {
    asset,
    moments: momentsOf(view, time),
    add,
    shown: () => ({
      ...asset,
      attributes: Object.fromEntries(attributes),
      behaviours: asset.behaviours.filter((behaviour) => view.readsBehaviour(behaviour)),
      tracked,
      ...(view.asOf && end === view.asOf && { asOf: end }),
    }),
  };
}

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
