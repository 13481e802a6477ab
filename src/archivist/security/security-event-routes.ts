import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { type Route, route } from '../../platform/http/route.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import { assetFreeEventSchema } from '../events/asset-free-event.js';
import { type ListSecurityEventsDeps, listSecurityEvents } from './list-security-events.js';
import { SECURITY_EVENT_FILTERS } from './security-event-filter-store.js';

/** The security audit of a tenancy: an extension of the interface. */
export function securityEventRoutes(deps: ListSecurityEventsDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/archivist/v1/security_events',
      operationId: 'SecurityEvents_ListSecurityEvents',
      summary: 'List security events (changes to applications, members, policies and keys), newest first',
      access: 'token',
      extension: true,
      success: 200,
      codes: [206, 400, 401, 403, 429],
      query: listQuerySchema(SECURITY_EVENT_FILTERS),
      response: pageSchema('security_events', assetFreeEventSchema),
      handle: async ({ principal, query, headers }) =>
        pageReply(
          'security_events',
          await listSecurityEvents(deps, principal, { query, exactTotal: wantsExactTotal(headers) }),
        ),
    }),
  ];
}
