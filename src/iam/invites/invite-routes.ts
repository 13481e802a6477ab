import { z } from 'zod';
import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { type Route, route } from '../../platform/http/route.js';
import { NAME_ORDERS } from '../../platform/listing/list-order.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { createInviteSchema, inviteSchema } from './invite.js';
import { listInvites, type ReadInviteDeps, readInvite } from './read-invites.js';
import { createInvite, deleteInvite, type WriteInviteDeps } from './write-invite.js';

export type InviteDeps = ReadInviteDeps & WriteInviteDeps;
const shared = { access: 'token', success: 200 } as const;

/**
 * Invites under one of their two paths (docs/design/interface.md#members-and-invites). @param name distinguishes the
 * operation ids of the two
 */
export function inviteRoutes(
  deps: InviteDeps,
  path: '/archivist/v1/invites' | '/archivist/iam/v1/invites',
  name: 'Invites' | 'IAMInvites',
): Route[] {
  const item = {
    ...shared,
    path: `${path}/:uuid`,
    params: z.object({ uuid: uuidSchema }),
    wrongId: 'bad_request',
  } as const;
  return [
    route({
      ...shared,
      method: 'GET',
      path,
      operationId: `${name}_ListInvites`,
      summary: 'List invites that are not accepted, newest first or by address',
      codes: [206, 400, 401, 403, 429, 500],
      query: listQuerySchema(['email', 'order_by'], { values: { order_by: NAME_ORDERS } }),
      response: pageSchema('invites', inviteSchema),
      handle: async ({ principal, query, headers }) =>
        pageReply('invites', await listInvites(deps, principal, { query, exactTotal: wantsExactTotal(headers) })),
    }),
    route({
      ...shared,
      method: 'POST',
      path,
      operationId: `${name}_CreateInvite`,
      summary: 'Invite a person by e-mail',
      example: { email: 'auditor@example.com', message: 'Please look at the calls of May.' },
      codes: [400, 401, 403, 413, 429, 500, 503],
      body: createInviteSchema,
      response: inviteSchema,
      handle: async ({ principal, body }) => ({ body: await createInvite(deps, principal, body) }),
    }),
    route({
      ...item,
      method: 'GET',
      operationId: `${name}_GetInvite`,
      summary: 'Read an invite',
      codes: [400, 401, 403, 404, 429, 500],
      response: inviteSchema,
      handle: async ({ principal, params }) => ({ body: await readInvite(deps, principal, params.uuid) }),
    }),
    route({
      ...item,
      method: 'DELETE',
      operationId: `${name}_DeleteInvite`,
      summary: 'Withdraw an invite',
      codes: [400, 401, 403, 404, 429, 500],
      response: z.strictObject({}),
      handle: async ({ principal, params }) => {
        await deleteInvite(deps, principal, params.uuid);
        return { body: {} };
      },
    }),
  ];
}
