import { z } from 'zod';
import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { type Reply, type Route, route } from '../../platform/http/route.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import type { AdministerDeps } from '../security/administer.js';
import { activateMember, deactivateMember, deleteMember, setRoles } from './change-member.js';
import { changeMemberSchema, memberSchema } from './member.js';
import { listMembers, MEMBER_STATES, type ReadMemberDeps } from './read-members.js';

const MEMBERS = '/archivist/iam/v1/members';
const shared = { access: 'token', success: 200 } as const;
const params = z.object({ member_uuid: uuidSchema });

/** Members (docs/design/interface.md#members-and-invites). */
export function memberRoutes(deps: ReadMemberDeps & AdministerDeps): Route[] {
  const verb = (name: 'activate' | 'deactivate', work: typeof activateMember) =>
    route({
      ...shared,
      method: 'POST',
      path: `${MEMBERS}/:member_uuid\\:${name}`,
      operationId: name === 'activate' ? 'Members_ActivateMember' : 'Members_DeactivateMember',
      summary:
        name === 'activate' ? 'Reactivate a member, as a basic user' : 'Deactivate a member and remove its roles',
      codes: [400, 401, 403, 404, 429],
      params,
      response: memberSchema,
      handle: async ({ principal, params: { member_uuid: memberId } }) => ({
        body: await work(deps, principal, memberId),
      }),
    });
  return [
    route({
      ...shared,
      method: 'GET',
      path: MEMBERS,
      operationId: 'Members_ListMembers',
      summary: 'List members, newest first; active ones unless member_state says otherwise',
      codes: [206, 400, 401, 403, 429],
      query: listQuerySchema(['member_state'], { values: { member_state: MEMBER_STATES } }),
      response: pageSchema('members', memberSchema).extend({ page_token: z.string() }),
      handle: async ({ principal, query, headers }) =>
        namedTwice(
          pageReply('members', await listMembers(deps, principal, { query, exactTotal: wantsExactTotal(headers) })),
        ),
    }),
    route({
      ...shared,
      method: 'PATCH',
      path: `${MEMBERS}/:member_uuid`,
      operationId: 'Members_UpdateMember',
      summary: 'Give a member exactly these roles',
      codes: [400, 401, 403, 404, 413, 429],
      params,
      response: memberSchema,
      body: changeMemberSchema,
      handle: async ({ principal, params: { member_uuid: memberId }, body }) => ({
        body: await setRoles(deps, principal, memberId, body.roles),
      }),
    }),
    deletion(deps),
    verb('activate', activateMember),
    verb('deactivate', deactivateMember),
  ];
}

function deletion(deps: AdministerDeps): Route {
  return route({
    ...shared,
    method: 'DELETE',
    path: `${MEMBERS}/:member_uuid`,
    operationId: 'Members_DeleteMember',
    summary: 'Delete a member, with name and address',
    extension: true,
    codes: [400, 401, 403, 404, 429],
    params,
    response: z.strictObject({}),
    handle: async ({ principal, params: { member_uuid: memberId } }) => {
      await deleteMember(deps, principal, memberId);
      return { body: {} };
    },
  });
}

/**
 * Only this list calls its token `page_token` (docs/design/interface.md#members-and-invites); the response has the
 * common name as well.
 */
function namedTwice(reply: Reply): Reply {
  const body = reply.body as { next_page_token: string };
  return { ...reply, body: { ...body, page_token: body.next_page_token } };
}
