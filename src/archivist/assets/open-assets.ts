import type { Feature } from '../../platform/feature.js';
import { type AssetDeps, assetRoutes } from './asset-routes.js';

export function openAssets(base: AssetDeps): Feature {
  return { routes: { 'v2/assets': assetRoutes(base) } };
}
