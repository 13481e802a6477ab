import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { type Route, route } from '../../platform/http/route.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import { uuidOrAllSchema, uuidSchema } from '../../platform/uuid-schema.js';
import { requireAsset } from '../assets/read-assets.js';
import { publicUrlSchema } from '../public-url.js';
import { type ListDeps, readByIdScope } from '../read-scope.js';
import { assetEventSchema } from './asset-event.js';
import { ASSET_EVENT_FILTERS, ASSET_EVENT_LIST } from './asset-event-filter-store.js';
import { listOwnAssetEvents, readAssetEvent, requireAssetEvent } from './read-asset-events.js';

export interface AssetEventDeps extends ListDeps {
  readonly publicUrl: string;
}

const byEvent = z.object({ asset_uuid: uuidSchema, uuid: uuidSchema });

/** Reads asset events (docs/design/interface.md#asset-events). */
export function assetEventRoutes(deps: AssetEventDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/archivist/v2/assets/:uuid/events',
      operationId: 'Assets_ListEvents',
      summary: 'List events of one asset, or of all assets (-)',
      access: 'token',
      success: 200,
      codes: [206, 400, 401, 403, 404, 429],
      params: z.object({ uuid: uuidOrAllSchema }),
      query: listQuerySchema(ASSET_EVENT_FILTERS, ASSET_EVENT_LIST),
      response: pageSchema('events', assetEventSchema),
      handle: async ({ principal, params, query, headers }) => {
        const assetId = params.uuid === '-' ? undefined : params.uuid;
        const exactTotal = wantsExactTotal(headers);
        return pageReply('events', await listOwnAssetEvents(deps, principal, { query, assetId, exactTotal }));
      },
    }),
    route({
      method: 'GET',
      path: '/archivist/v2/assets/:asset_uuid/events/:uuid\\:publicurl',
      operationId: 'Assets_GetEventPublicURL',
      summary: 'Get the public URL of an event of a public asset',
      access: 'token',
      success: 200,
      codes: [400, 401, 403, 404, 429],
      params: byEvent,
      response: publicUrlSchema,
      handle: async ({ principal, params }) => ({ body: await publicUrl(deps, principal, params) }),
    }),
    route({
      method: 'GET',
      path: '/archivist/v2/assets/:asset_uuid/events/:uuid',
      operationId: 'Assets_GetEvent',
      summary: 'Read an event of an asset',
      access: 'token',
      success: 200,
      codes: [400, 401, 403, 404, 429],
      params: byEvent,
      response: assetEventSchema,
      handle: async ({ principal, params }) => ({
        body: await readAssetEvent(deps, principal, { assetId: params.asset_uuid, eventId: params.uuid }),
      }),
    }),
  ];
}

function publicUrl(
  deps: AssetEventDeps,
  principal: Parameters<typeof requireAsset>[1],
  params: { asset_uuid: string; uuid: string },
): Promise<{ publicurl: string }> {
  return deps.database.inTransaction(readByIdScope(deps.deployment, principal.tenantId), async (tx) => {
    const asset = await requireAsset(tx, principal, params.asset_uuid);
    await requireAssetEvent(tx, principal, { assetId: params.asset_uuid, eventId: params.uuid });
    if (!asset.public) throw new ApiError('not_found', 'Only an event of a public asset has a public URL.');
    return { publicurl: `${deps.publicUrl}/archivist/v2/publicassets/${params.asset_uuid}/events/${params.uuid}` };
  });
}
