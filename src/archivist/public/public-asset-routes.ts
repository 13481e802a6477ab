import { z } from 'zod';
import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { type Route, route } from '../../platform/http/route.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import { timestampSchema } from '../../platform/timestamps.js';
import { uuidOrAllSchema, uuidSchema } from '../../platform/uuid-schema.js';
import { assetSchema } from '../assets/asset.js';
import type { ReadAssetDeps } from '../assets/read-assets.js';
import { readPublicAsset } from '../assets/read-assets.js';
import { assetEventSchema } from '../events/asset-event.js';
import { ASSET_EVENT_FILTERS, ASSET_EVENT_LIST } from '../events/asset-event-filter-store.js';
import { listPublicAssetEvents, readPublicAssetEvent } from '../events/read-asset-events.js';
import type { ListDeps } from '../read-scope.js';
import { publicReply } from './public-reply.js';

/**
 * Public assets, read without a token; also under the path without `v2` that older clients use
 * (docs/design/interface.md#existing-clients).
 */
export function publicAssetRoutes(deps: ReadAssetDeps & ListDeps): Route[] {
  return [
    ...publicAssetRoutesAt(deps, '/archivist/v2/publicassets', ''),
    ...publicAssetRoutesAt(deps, '/archivist/publicassets', 'Unversioned').map((each) => ({
      ...each,
      extension: true as const,
    })),
  ];
}

function publicAssetRoutesAt(deps: ReadAssetDeps & ListDeps, base: string, suffix: string): Route[] {
  return [
    route({
      method: 'GET',
      path: `${base}/:uuid`,
      operationId: `PublicAssets_GetPublicAsset${suffix}`,
      summary: 'Read a public asset, now or at a past time',
      access: 'public',
      success: 200,
      codes: [304, 400, 404],
      params: z.object({ uuid: uuidSchema }),
      query: z.object({ at_time: timestampSchema.optional() }),
      longRead: ({ at_time: atTime }) => atTime !== undefined,
      response: assetSchema,
      handle: async ({ params, query, headers }) =>
        publicReply({ body: await readPublicAsset(deps, params.uuid, query.at_time) }, headers),
    }),
    route({
      method: 'GET',
      path: `${base}/:uuid/events`,
      operationId: `PublicAssets_ListPublicEvents${suffix}`,
      summary: 'List events of one public asset, or of all public assets (-), newest first',
      access: 'public',
      success: 200,
      codes: [206, 304, 400, 404],
      params: z.object({ uuid: uuidOrAllSchema }),
      query: listQuerySchema(ASSET_EVENT_FILTERS, ASSET_EVENT_LIST),
      response: pageSchema('events', assetEventSchema),
      handle: async ({ params, query, headers }) => {
        const assetId = params.uuid === '-' ? undefined : params.uuid;
        const page = await listPublicAssetEvents(deps, { query, assetId, exactTotal: wantsExactTotal(headers) });
        return publicReply(pageReply('events', page), headers);
      },
    }),
    route({
      method: 'GET',
      path: `${base}/:asset_uuid/events/:uuid`,
      operationId: `PublicAssets_GetPublicEvent${suffix}`,
      summary: 'Read an event of a public asset',
      access: 'public',
      success: 200,
      codes: [304, 400, 404],
      params: z.object({ asset_uuid: uuidSchema, uuid: uuidSchema }),
      response: assetEventSchema,
      handle: async ({ params, headers }) => {
        const body = await readPublicAssetEvent(deps, { assetId: params.asset_uuid, eventId: params.uuid });
        return publicReply({ body }, headers, 'event');
      },
    }),
  ];
}
