import { z } from 'zod';
import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { type Route, route } from '../../platform/http/route.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import {
  createWebhook,
  deleteWebhook,
  listDeliveries,
  listWebhooks,
  readWebhook,
  replay,
  type WebhookDeps,
} from './manage-webhooks.js';
import { createWebhookSchema, DELIVERY_STATUSES, webhookDeliverySchema, webhookSchema } from './webhook.js';

const WEBHOOKS = '/archivist/iam/v1/webhooks';

/** Webhooks of a tenancy's applications (docs/api.md#webhooks). */
export function webhookRoutes(deps: WebhookDeps): Route[] {
  return [...collectionRoutes(deps), ...itemRoutes(deps), ...deliveryRoutes(deps)];
}

function collectionRoutes(deps: WebhookDeps): Route[] {
  const shared = { path: WEBHOOKS, access: 'token', extension: true, success: 200 } as const;
  return [
    route({
      ...shared,
      method: 'GET',
      operationId: 'Webhooks_ListWebhooks',
      summary: 'List webhooks, newest first',
      codes: [206, 400, 401, 403, 429],
      query: listQuerySchema([]),
      response: pageSchema('webhooks', webhookSchema),
      handle: async ({ principal, query, headers }) =>
        pageReply('webhooks', await listWebhooks(deps, principal, { query, exactTotal: wantsExactTotal(headers) })),
    }),
    route({
      ...shared,
      method: 'POST',
      operationId: 'Webhooks_CreateWebhook',
      summary: 'Create a webhook; the response has its secret, for the only time',
      codes: [400, 401, 402, 403, 413, 429],
      body: createWebhookSchema,
      response: webhookSchema,
      handle: async ({ principal, body }) => ({ body: await createWebhook(deps, principal, body) }),
    }),
  ];
}

function itemRoutes(deps: WebhookDeps): Route[] {
  const params = z.object({ uuid: uuidSchema });
  const item = { path: `${WEBHOOKS}/:uuid`, params, access: 'token', extension: true, success: 200 } as const;
  return [
    route({
      ...item,
      method: 'GET',
      operationId: 'Webhooks_GetWebhook',
      summary: 'Read a webhook',
      codes: [400, 401, 403, 404, 429],
      response: webhookSchema,
      handle: async ({ principal, params }) => ({ body: await readWebhook(deps, principal, params.uuid) }),
    }),
    route({
      ...item,
      method: 'DELETE',
      operationId: 'Webhooks_DeleteWebhook',
      summary: 'Delete a webhook and its deliveries',
      codes: [400, 401, 403, 404, 429],
      response: z.strictObject({}),
      handle: async ({ principal, params }) => {
        await deleteWebhook(deps, principal, params.uuid);
        return { body: {} };
      },
    }),
  ];
}

function deliveryRoutes(deps: WebhookDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: `${WEBHOOKS}/:uuid/deliveries`,
      operationId: 'Webhooks_ListDeliveries',
      summary: 'List deliveries of a webhook, newest first',
      access: 'token',
      extension: true,
      success: 200,
      codes: [206, 400, 401, 403, 404, 429],
      params: z.object({ uuid: uuidSchema }),
      query: listQuerySchema(['status'], { values: { status: DELIVERY_STATUSES } }),
      response: pageSchema('deliveries', webhookDeliverySchema),
      handle: async ({ principal, params, query, headers }) => {
        const request = { query, exactTotal: wantsExactTotal(headers) };
        return pageReply('deliveries', await listDeliveries(deps, principal, params.uuid, request));
      },
    }),
    route({
      method: 'POST',
      path: `${WEBHOOKS}/:webhook_uuid/deliveries/:uuid\\:replay`,
      operationId: 'Webhooks_ReplayDelivery',
      summary: 'Send a delivery again, under the same id',
      access: 'token',
      extension: true,
      success: 200,
      codes: [400, 401, 403, 404, 429],
      params: z.object({ webhook_uuid: uuidSchema, uuid: uuidSchema }),
      response: webhookDeliverySchema,
      handle: async ({ principal, params }) => ({
        body: await replay(deps, principal, { webhookId: params.webhook_uuid, deliveryId: params.uuid }),
      }),
    }),
  ];
}
