import { type AssetView, assetView } from '../../iam/access/asset-view.js';
import { type Access, visibleTenancies } from '../../iam/access/open-access.js';
import { ApiError } from '../../platform/errors.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Attributes } from '../attributes.js';
import type { Asset } from './asset.js';
import { findAssets } from './asset-store.js';

/** An asset in full, and the caller's view of it. Responses must always pass through the view. */
export interface SeenAsset {
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
  const { principal, grants } = access;
  const tenancies = visibleTenancies(access);
  const found = await findAssets(
    tx,
    tenancies.map((tenantId) => ({ tenantId, assetId })),
  );
  const asset = found.find(({ tenantId }) => tenantId === principal.tenantId) ?? found[0];
  return asset && { asset, view: assetView(principal, asset, grants) };
}

/** The asset as the caller sees it. */
export function shownAsset({ asset, view }: SeenAsset): Asset {
  if (view.whole) return asset;
  return {
    ...asset,
    attributes: readableOf(asset.attributes, view),
    behaviours: asset.behaviours.filter((behaviour) => view.readsBehaviour(behaviour)),
  };
}

/** The attributes of an asset, or of an event's changes to them, that the view lets the caller read. */
export function readableOf(attributes: Attributes, view: AssetView): Attributes {
  if (view.whole) return attributes;
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => view.readsAttribute(name)));
}

export function noSuchAsset(): ApiError {
  return new ApiError('not_found', 'There is no such asset.');
}
