import { z } from 'zod';
import { type Route, route } from '../../platform/http/route.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { assetSchema, createAssetSchema } from '../assets/asset.js';
import { assetEventSchema, createAssetEventSchema } from '../events/asset-event.js';
import { assetFreeEventSchema, createAssetFreeEventSchema, MAX_ASSET_FREE_BODY } from '../events/asset-free-event.js';
import { EXAMPLE_OPERATION } from '../events/example-operation.js';
import { type CreateAssetDeps, createAsset } from './create-asset.js';
import { createAssetEvent } from './create-asset-event.js';
import { createAssetFreeEvent } from './create-asset-free-event.js';
import { type CreateDeps, createRequest } from './create-request.js';

/** Creates an asset (docs/design/interface.md#assets). */
export function createAssetRoute(deps: CreateAssetDeps): Route {
  return route({
    method: 'POST',
    path: '/archivist/v2/assets',
    operationId: 'Assets_CreateAsset',
    summary: 'Create an asset',
    requestHeaders: ['idempotency-key'],
    example: {
      behaviours: ['RecordEvidence'],
      attributes: { arc_display_name: 'Call 01928e10', arc_display_type: 'vcon' },
    },
    access: 'token',
    success: 200,
    codes: [400, 401, 402, 403, 413, 422, 429],
    body: createAssetSchema,
    response: assetSchema,
    handle: async (context) => ({
      body: await createAsset(deps, createRequest(context, '/archivist/v2/assets')),
    }),
  });
}

/** Records an event on an asset (docs/design/interface.md#asset-events). */
export function createAssetEventRoute(deps: CreateDeps): Route {
  return route({
    method: 'POST',
    path: '/archivist/v2/assets/:uuid/events',
    operationId: 'Events_Create',
    summary: 'Record an event on an asset',
    requestHeaders: ['idempotency-key'],
    example: { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: EXAMPLE_OPERATION },
    access: 'token',
    success: 200,
    codes: [400, 401, 402, 403, 404, 413, 422, 429],
    params: z.object({ uuid: uuidSchema }),
    body: createAssetEventSchema,
    response: assetEventSchema,
    handle: async (context) => {
      const { uuid } = context.params;
      const request = createRequest(context, `/archivist/v2/assets/${uuid}/events`);
      return { body: await createAssetEvent(deps, uuid, request) };
    },
  });
}

/** Records an asset-free event (docs/design/interface.md#asset-free-events). */
export function createAssetFreeEventRoute(deps: CreateDeps): Route {
  return route({
    method: 'POST',
    path: '/archivist/v1/events',
    operationId: 'Events_CreateEvent',
    summary: 'Record an asset-free event',
    requestHeaders: ['idempotency-key'],
    example: { event_type: 'vcon', trails: ['01928e10'], attributes: EXAMPLE_OPERATION },
    access: 'token',
    success: 200,
    codes: [400, 401, 402, 403, 413, 422, 429],
    body: createAssetFreeEventSchema,
    bodyLimit: MAX_ASSET_FREE_BODY,
    response: assetFreeEventSchema,
    handle: async (context) => ({
      body: await createAssetFreeEvent(deps, createRequest(context, '/archivist/v1/events')),
    }),
  });
}
