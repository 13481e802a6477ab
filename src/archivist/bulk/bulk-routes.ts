import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { type Reply, type Route, route } from '../../platform/http/route.js';
import { uuidOrAllSchema } from '../../platform/uuid-schema.js';
import { assetEventSchema } from '../events/asset-event.js';
import { assetFreeEventSchema } from '../events/asset-free-event.js';
import { EXAMPLE_OPERATION } from '../events/example-operation.js';
import { type AcceptBulkDeps, acceptBulk, type BulkKind } from './accept-bulk.js';
import { assetEventBulk } from './asset-event-bulk.js';
import { assetFreeEventBulk } from './asset-free-event-bulk.js';
import { bulkAnswerSchema, bulkSchema, MAX_BULK_BODY, MAX_BULK_VALUES } from './bulk.js';

/** Many asset events in one request (docs/design/README.md#data); under `-` each event names its asset. */
export function assetEventBulkRoutes(deps: AcceptBulkDeps): Route[] {
  return [
    route({
      method: 'POST',
      path: '/archivist/v2/assets/:uuid/events\\:bulk',
      operationId: 'Events_CreateBulk',
      summary: 'Record up to 1,000 events on one asset, or on several (-), each with its own result',
      example: {
        events: [
          {
            idempotency_key: '01928e10-created',
            operation: 'Record',
            behaviour: 'RecordEvidence',
            event_attributes: EXAMPLE_OPERATION,
          },
        ],
      },
      access: 'token',
      extension: true,
      success: 200,
      codes: [400, 401, 403, 404, 413, 429],
      params: z.object({ uuid: uuidOrAllSchema }),
      body: bulkSchema,
      bodyLimit: MAX_BULK_BODY,
      bodyValues: MAX_BULK_VALUES,
      weight: ({ events }) => events.length,
      response: bulkAnswerSchema(assetEventSchema),
      handle: ({ params, ...context }) =>
        bulkReply(deps, context, assetEventBulk(params.uuid === '-' ? undefined : params.uuid)),
    }),
  ];
}

/** Many asset-free events in one request (docs/design/README.md#data). */
export function assetFreeEventBulkRoutes(deps: AcceptBulkDeps): Route[] {
  return [
    route({
      method: 'POST',
      path: '/archivist/v1/events\\:bulk',
      operationId: 'Events_CreateEventBulk',
      summary: 'Record up to 1,000 asset-free events, each with its own result',
      example: { events: [{ idempotency_key: '01928e10-free', attributes: EXAMPLE_OPERATION }] },
      access: 'token',
      extension: true,
      success: 200,
      codes: [400, 401, 403, 413, 429],
      body: bulkSchema,
      bodyLimit: MAX_BULK_BODY,
      bodyValues: MAX_BULK_VALUES,
      weight: ({ events }) => events.length,
      response: bulkAnswerSchema(assetFreeEventSchema),
      handle: (context) => bulkReply(deps, context, assetFreeEventBulk),
    }),
  ];
}

interface BulkContext {
  readonly principal: Principal;
  readonly body: z.infer<typeof bulkSchema>;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

async function bulkReply(deps: AcceptBulkDeps, context: BulkContext, kind: BulkKind): Promise<Reply> {
  // Ignoring the header would let a client believe that a retry is safe.
  if (context.headers['idempotency-key'] !== undefined) {
    throw new ApiError('bad_request', 'Idempotency-Key: give each event its own as idempotency_key');
  }
  return { body: { events: await acceptBulk(deps, context.principal, context.body.events, kind) } };
}
