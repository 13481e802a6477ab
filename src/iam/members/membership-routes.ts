import { z } from 'zod';
import { listReply } from '../../platform/http/list-response.js';
import { type Route, route } from '../../platform/http/route.js';
import { pageSchema } from '../../platform/listing/page-reply.js';
import type { Database } from '../../platform/postgres/database.js';
import { listMemberships } from './read-members.js';

const query = z.object({
  page_size: z
    .string()
    .regex(/^\d{0,10}$/, 'must be a number of results')
    .optional(),
  // There is never a second page, so no token can be valid.
  page_token: z.string().max(0, 'must be empty: this list has one page').optional(),
});

const membershipSchema = z.strictObject({ identity: z.string(), display_name: z.string(), tenant_id: z.string() });

/** Tenancies that the caller is a member of (docs/design/interface.md#members-and-invites). */
export function membershipRoutes(deps: { readonly database: Database }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/archivist/iam/v1/memberships',
      operationId: 'Memberships_ListUserMemberships',
      summary: 'Tenancies that the caller is a member of',
      access: 'token',
      success: 200,
      codes: [400, 401, 403, 404, 429],
      query,
      response: pageSchema('memberships', membershipSchema),
      handle: async ({ principal }) => {
        const items = await listMemberships(deps, principal);
        return listReply({ key: 'memberships', items, nextPageToken: '', total: items.length });
      },
    }),
  ];
}
