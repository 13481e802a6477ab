import type { Feature } from '../../platform/feature.js';
import { type AssetEventDeps, assetEventRoutes } from '../events/asset-event-routes.js';
import { assetFreeEventRoutes } from '../events/asset-free-event-routes.js';
import type { AcceptBulkDeps } from './accept-bulk.js';
import { assetEventBulkRoutes, assetFreeEventBulkRoutes } from './bulk-routes.js';

/** Events, one by one and many in one request. */
export function openEvents(base: AssetEventDeps & AcceptBulkDeps): Feature {
  return {
    routes: {
      'v2/assets': [...assetEventRoutes(base), ...assetEventBulkRoutes(base)],
      'v1/events': [...assetFreeEventRoutes(base), ...assetFreeEventBulkRoutes(base)],
    },
  };
}
