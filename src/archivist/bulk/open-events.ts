import type { Feature } from '../../platform/feature.js';
import type { CreateDeps } from '../create/create-request.js';
import { createAssetEventRoute, createAssetFreeEventRoute } from '../create/create-routes.js';
import { type AssetEventDeps, assetEventRoutes } from '../events/asset-event-routes.js';
import { assetFreeEventRoutes } from '../events/asset-free-event-routes.js';
import type { AcceptBulkDeps } from './accept-bulk.js';
import { assetEventBulkRoutes, assetFreeEventBulkRoutes } from './bulk-routes.js';

/** Events: recording them, one by one and many in one request, and reading them. */
export function openEvents(base: AssetEventDeps & CreateDeps & AcceptBulkDeps): Feature {
  return {
    routes: {
      'v2/assets': [createAssetEventRoute(base), ...assetEventRoutes(base), ...assetEventBulkRoutes(base)],
      'v1/events': [createAssetFreeEventRoute(base), ...assetFreeEventRoutes(base), ...assetFreeEventBulkRoutes(base)],
    },
  };
}
