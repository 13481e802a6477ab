import { z } from 'zod';
import { type Route, route } from '../../platform/http/route.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema, wantsExactTotal } from '../../platform/listing/page-reply.js';
import { uuidOrAllSchema, uuidSchema } from '../../platform/uuid-schema.js';
import { assetSchema } from '../assets/asset.js';
import { readPublicAsset } from '../assets/read-assets.js';
import { assetEventSchema } from '../events/asset-event.js';
import { ASSET_EVENT_FILTERS } from '../events/asset-event-filter-store.js';
import { listPublicAssetEvents, readPublicAssetEvent } from '../events/read-asset-events.js';
import type { ProvenanceDeps } from '../provenance-deps.js';

const READABLE_ANYWHERE = { 'access-control-allow-origin': '*' };

/** Public assets, read without a token; also under the path without `v2` that older clients know (client contract 1.1.6). */
export function publicAssetRoutes(deps: ProvenanceDeps): Route[] {
  return [
    ...publicAssetRoutesAt(deps, '/archivist/v2/publicassets', ''),
    ...publicAssetRoutesAt(deps, '/archivist/publicassets', 'Unversioned').map((each) => ({
      ...each,
      extension: true as const,
    })),
  ];
}

function publicAssetRoutesAt(deps: ProvenanceDeps, base: string, suffix: string): Route[] {
  return [
    route({
      method: 'GET',
      path: `${base}/:uuid`,
      operationId: `PublicAssets_GetAsset${suffix}`,
      summary: 'Read a public asset',
      access: 'public',
      success: 200,
      codes: [400, 404],
      params: z.object({ uuid: uuidSchema }),
      response: assetSchema,
      handle: async ({ params }) => ({ body: await readPublicAsset(deps, params.uuid), headers: READABLE_ANYWHERE }),
    }),
    route({
      method: 'GET',
      path: `${base}/:uuid/events`,
      operationId: `PublicAssets_ListEvents${suffix}`,
      summary: 'List events of one public asset, or of all (-)',
      access: 'public',
      success: 200,
      codes: [206, 400, 404],
      params: z.object({ uuid: uuidOrAllSchema }),
      query: listQuerySchema(ASSET_EVENT_FILTERS),
      response: pageSchema('events', assetEventSchema),
      handle: async ({ params, query, headers }) => {
        const assetId = params.uuid === '-' ? undefined : params.uuid;
        const page = await listPublicAssetEvents(deps, { query, assetId, exactTotal: wantsExactTotal(headers) });
        const reply = pageReply('events', page);
        return { ...reply, headers: { ...reply.headers, ...READABLE_ANYWHERE } };
      },
    }),
    route({
      method: 'GET',
      path: `${base}/:asset_uuid/events/:uuid`,
      operationId: `PublicAssets_GetEvent${suffix}`,
      summary: 'Read an event of a public asset',
      access: 'public',
      success: 200,
      codes: [400, 404],
      params: z.object({ asset_uuid: uuidSchema, uuid: uuidSchema }),
      response: assetEventSchema,
      handle: async ({ params }) => ({
        body: await readPublicAssetEvent(deps, { assetId: params.asset_uuid, eventId: params.uuid }),
        headers: READABLE_ANYWHERE,
      }),
    }),
  ];
}
