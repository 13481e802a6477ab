import type { Feature } from '../../platform/feature.js';
import { type AssetDeps, assetRoutes } from '../assets/asset-routes.js';
import type { CreateAssetDeps } from './create-asset.js';
import { createAssetRoute } from './create-routes.js';

/** Assets: creating and reading them. */
export function openAssets(base: AssetDeps & CreateAssetDeps): Feature {
  return { routes: { 'v2/assets': [createAssetRoute(base), ...assetRoutes(base)] } };
}
