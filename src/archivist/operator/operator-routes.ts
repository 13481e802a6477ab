import { z } from 'zod';
import { type Route, route } from '../../platform/http/route.js';
import { plainText } from '../../platform/plain-text.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import {
  listTenancies,
  type OperatorDeps,
  openTenancy,
  shutTenancy,
  tenancySchema,
  verifyDomain,
} from './manage-tenancies.js';

const TENANCIES = '/archivist/operator/v1/tenancies';
const PAGE = 1000;
const displayName = plainText(128).min(1);
const domain = z
  .string()
  .max(253)
  .toLowerCase()
  .regex(/^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z]{2,63}$/, 'must be a domain name');

/**
 * What the operator of a deployment does with tenancies: an extension of the interface, used by `vcon-archivist
 * tenancy`.
 */
export function operatorRoutes(deps: OperatorDeps): Route[] {
  const shared = { access: 'operator', extension: true, success: 200 } as const;
  const byUuid = z.object({ uuid: uuidSchema });
  return [
    route({
      ...shared,
      method: 'GET',
      path: TENANCIES,
      operationId: 'Operator_ListTenancies',
      summary: 'List tenancies, oldest first, without their contents',
      codes: [400, 401],
      query: z.object({ after: uuidSchema.optional() }),
      response: z.strictObject({ tenancies: z.array(tenancySchema) }),
      handle: async ({ query }) => ({ body: { tenancies: await listTenancies(deps, query.after, PAGE) } }),
    }),
    route({
      ...shared,
      method: 'POST',
      path: TENANCIES,
      operationId: 'Operator_CreateTenancy',
      summary: 'Create a tenancy and its first Owner application; the secret is shown once',
      codes: [400, 401, 413],
      body: z.object({ display_name: displayName, verified_domain: domain.optional() }),
      response: tenancySchema.extend({ client_id: z.string(), client_secret: z.string() }),
      handle: async ({ body }) => ({
        body: await openTenancy(deps, {
          displayName: body.display_name,
          verifiedDomain: body.verified_domain ?? '',
        }),
      }),
    }),
    ...(['disable', 'enable'] as const).map((verb) =>
      route({
        ...shared,
        method: 'POST',
        path: `${TENANCIES}/:uuid\\:${verb}`,
        operationId: verb === 'disable' ? 'Operator_DisableTenancy' : 'Operator_EnableTenancy',
        summary:
          verb === 'disable' ? 'Disable a tenancy: reject its tokens' : 'Enable a tenancy: accept its tokens again',
        codes: [400, 401, 404],
        params: byUuid,
        response: tenancySchema,
        handle: async ({ params }) => ({ body: await shutTenancy(deps, params.uuid, verb === 'disable') }),
      }),
    ),
    route({
      ...shared,
      method: 'POST',
      path: `${TENANCIES}/:uuid\\:verify-domain`,
      operationId: 'Operator_VerifyDomain',
      summary: 'Record the verified domain of a tenancy',
      codes: [400, 401, 404, 413],
      params: byUuid,
      body: z.object({ verified_domain: domain }),
      response: tenancySchema,
      handle: async ({ params, body }) => ({ body: await verifyDomain(deps, params.uuid, body.verified_domain) }),
    }),
  ];
}
