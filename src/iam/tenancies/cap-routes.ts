import { z } from 'zod';
import { type Route, route } from '../../platform/http/route.js';
import type { Database } from '../../platform/postgres/database.js';
import { CAPPED_SERVICES, type CappedService, capsSchema, readCaps } from './caps.js';
import type { Quotas } from './quotas.js';

const services = Object.keys(CAPPED_SERVICES) as CappedService[];

/** Caps (docs/design/interface.md#existing-clients; docs/design/interface.md#shapes). */
export function capRoutes(deps: { database: Database; quotas: Quotas }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/archivist/v1/caps',
      operationId: 'Caps_GetCaps',
      summary: 'Get how much the tenancy may still add',
      access: 'token',
      extension: true,
      success: 200,
      codes: [400, 401, 403, 429],
      response: capsSchema,
      query: z.object({ service: z.enum(services) }),
      handle: async ({ principal, query }) => ({ body: await readCaps(deps, principal, query.service) }),
    }),
  ];
}
