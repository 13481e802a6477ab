import type { Feature } from '../../platform/feature.js';
import type { ReadAssetDeps } from '../assets/read-assets.js';
import type { ListDeps } from '../read-scope.js';
import { publicAssetRoutes } from './public-asset-routes.js';

export function openPublicAssets(base: ReadAssetDeps & ListDeps): Feature {
  return { routes: { 'v2/publicassets': publicAssetRoutes(base) } };
}
