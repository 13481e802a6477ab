import { z } from 'zod';
import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { type Route, route } from '../../platform/http/route.js';
import { NAME_ORDERS } from '../../platform/listing/list-order.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import type { PageTokens } from '../../platform/postgres/page-token.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { accessPolicySchema, changeAccessPolicySchema, createAccessPolicySchema } from '../access/access-policy.js';
import { endingQuery, pastSharesOf } from '../access/past-shares.js';
import { ACCESS_POLICY_FILTERS } from './access-policy-filter-store.js';
import { listAccessPolicies, readAccessPolicy } from './read-access-policies.js';
import {
  changeAccessPolicy,
  createAccessPolicy,
  deleteAccessPolicy,
  type WritePolicyDeps,
} from './write-access-policy.js';

const POLICIES = '/archivist/iam/v1/access_policies';
const collection = { path: POLICIES, access: 'token', success: 200 } as const;
const item = {
  path: `${POLICIES}/:uuid`,
  params: z.object({ uuid: uuidSchema }),
  access: 'token',
  success: 200,
} as const;

type AccessPolicyDeps = WritePolicyDeps & { readonly pageTokens: PageTokens };

/**
 * Access policies (docs/design/interface.md#access-policies). The routes for the assets that a policy matches are with
 * the assets.
 */
export function accessPolicyRoutes(deps: AccessPolicyDeps): Route[] {
  return [...collectionRoutes(deps), ...itemRoutes(deps)];
}

function collectionRoutes(deps: AccessPolicyDeps): Route[] {
  return [
    route({
      ...collection,
      method: 'GET',
      operationId: 'AccessPolicies_ListIAMAccessPolicies',
      summary: 'List access policies, newest first or by name',
      codes: [206, 400, 401, 403, 429, 500],
      query: listQuerySchema(ACCESS_POLICY_FILTERS, { values: { order_by: NAME_ORDERS } }),
      response: pageSchema('access_policies', accessPolicySchema),
      handle: async ({ principal, query, headers }) => {
        const exactTotal = wantsExactTotal(headers);
        return pageReply('access_policies', await listAccessPolicies(deps, principal, { query, exactTotal }));
      },
    }),
    route({
      ...collection,
      method: 'POST',
      operationId: 'AccessPolicies_CreateIAMAccessPolicy',
      summary: 'Create an access policy',
      example: {
        display_name: 'Auditors read everything',
        filters: [],
        access_permissions: [
          {
            user_attributes: [{ or: ['group:auditors'] }],
            behaviours: ['*'],
            asset_attributes_read: ['*'],
            event_arc_display_type_read: ['*'],
          },
        ],
      },
      codes: [400, 401, 402, 403, 413, 429, 500],
      body: createAccessPolicySchema,
      response: accessPolicySchema,
      handle: async ({ principal, body }) => ({ body: await createAccessPolicy(deps, principal, body) }),
    }),
  ];
}

function itemRoutes(deps: AccessPolicyDeps): Route[] {
  return [
    route({
      ...item,
      method: 'GET',
      operationId: 'AccessPolicies_GetIAMAccessPolicy',
      summary: 'Read an access policy',
      codes: [400, 401, 403, 404, 429, 500],
      response: accessPolicySchema,
      handle: async ({ principal, params }) => ({ body: await readAccessPolicy(deps, principal, params.uuid) }),
    }),
    route({
      ...item,
      method: 'PATCH',
      operationId: 'AccessPolicies_UpdateIAMAccessPolicy',
      summary: 'Change an access policy',
      codes: [400, 401, 403, 404, 413, 429, 500],
      query: endingQuery,
      body: changeAccessPolicySchema,
      response: accessPolicySchema,
      handle: async ({ principal, params, query, body }) => ({
        body: await changeAccessPolicy(deps, principal, params.uuid, body, pastSharesOf(query)),
      }),
    }),
    route({
      ...item,
      method: 'DELETE',
      operationId: 'AccessPolicies_DeleteIAMAccessPolicy',
      summary: 'Delete an access policy',
      codes: [400, 401, 403, 404, 429, 500],
      query: endingQuery,
      response: z.strictObject({}),
      handle: async ({ principal, params, query }) => {
        await deleteAccessPolicy(deps, principal, params.uuid, pastSharesOf(query));
        return { body: {} };
      },
    }),
  ];
}
