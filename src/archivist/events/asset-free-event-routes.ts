import { z } from 'zod';
import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { type Route, route } from '../../platform/http/route.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import type { ListDeps } from '../read-scope.js';
import { assetFreeEventSchema, MAX_ASSET_FREE_BODY } from './asset-free-event.js';
import { ASSET_FREE_FILTERS, ASSET_FREE_LIST } from './asset-free-event-filter-store.js';
import { listOwnAssetFreeEvents } from './list-asset-free-events.js';
import { readAssetFreeEvent } from './read-asset-free-event.js';
import { searchAssetFreeEvents, searchResultSchema, searchSchema } from './search-asset-free-events.js';

/** Reads asset-free events (docs/design/interface.md#asset-free-events). */
export function assetFreeEventRoutes(deps: ListDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/archivist/v1/events',
      operationId: 'Events_ListEvents',
      extension: true,
      summary: 'List asset-free events by attributes, trail, type, creator or time, newest first',
      access: 'token',
      success: 200,
      codes: [206, 400, 401, 403, 429],
      query: listQuerySchema(ASSET_FREE_FILTERS, ASSET_FREE_LIST),
      response: pageSchema('events', assetFreeEventSchema),
      handle: async ({ principal, query, headers }) => {
        const exactTotal = wantsExactTotal(headers);
        return pageReply('events', await listOwnAssetFreeEvents(deps, principal, { query, exactTotal }));
      },
    }),
    route({
      method: 'POST',
      path: '/archivist/v1/events/search',
      operationId: 'Events_SearchEvents',
      summary: 'Search asset-free events with an OData filter, newest first',
      example: { filter: "event_type eq 'vcon'", top: 20 },
      access: 'token',
      success: 200,
      storesNothing: true,
      codes: [400, 401, 403, 413, 429],
      body: searchSchema,
      bodyLimit: MAX_ASSET_FREE_BODY,
      // Its total is exact, and filters that no index answers read every event.
      longRead: true,
      response: searchResultSchema,
      answerHeaders: { 200: ['x-total-count'] },
      handle: async ({ principal, body }) => {
        const { events, total } = await searchAssetFreeEvents(deps, principal, body);
        return { body: { events }, headers: { 'x-total-count': String(total) } };
      },
    }),
    route({
      method: 'GET',
      path: '/archivist/v1/events/:uuid',
      operationId: 'Events_GetEvent',
      summary: 'Read an asset-free event',
      access: 'token',
      success: 200,
      codes: [400, 401, 403, 404, 429],
      params: z.object({ uuid: uuidSchema }),
      response: assetFreeEventSchema,
      handle: async ({ principal, params }) => ({ body: await readAssetFreeEvent(deps, principal, params.uuid) }),
    }),
  ];
}
