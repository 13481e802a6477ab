import { z } from 'zod';
import { type Route, route } from '../../platform/http/route.js';
import { pageSchema } from '../../platform/listing/page-reply.js';
import { wholeListQuery, wholeListReply } from '../../platform/listing/whole-list.js';
import type { Database } from '../../platform/postgres/database.js';
import { listMemberships } from './read-members.js';

const membershipSchema = z.strictObject({ identity: z.string(), display_name: z.string(), tenant_id: z.string() });

/** Tenancies that the caller is a member of (docs/design/interface.md#members-and-invites). */
export function membershipRoutes(deps: { readonly database: Database }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/archivist/iam/v1/memberships',
      operationId: 'Memberships_ListUserMemberships',
      summary: 'List the tenancies that the caller is a member of',
      access: 'token',
      success: 200,
      codes: [400, 401, 403, 404, 429],
      query: wholeListQuery,
      response: pageSchema('memberships', membershipSchema),
      handle: async ({ principal }) => wholeListReply('memberships', await listMemberships(deps, principal)),
    }),
  ];
}
