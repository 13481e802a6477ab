import { z } from 'zod';
import { type Route, route } from '../../platform/http/route.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import {
  type AdministratorDeps,
  administratorsResponseSchema,
  readAdministrators,
  replaceAdministrators,
  replaceAdministratorsSchema,
} from './administrators.js';
import {
  changeOwnTenancy,
  changeTenancySchema,
  ownTenancySchema,
  publicTenancySchema,
  readOwnTenancy,
  readPublicTenancy,
  type TenancyDeps,
} from './tenancy-self.js';

/** Tenancies (docs/design/interface.md#existing-clients; docs/design/interface.md#shapes). */
export function tenancyRoutes(deps: TenancyDeps): Route[] {
  const self = { path: '/archivist/v1/tenancies/self', access: 'token', success: 200 } as const;
  return [
    route({
      method: 'GET',
      path: '/archivist/v1/tenancies/:uuid\\:publicinfo',
      operationId: 'Tenancies_GetPublicTenantInfo',
      summary: 'Get the public information about a tenancy',
      access: 'public',
      extension: true,
      success: 200,
      codes: [400, 404],
      params: z.object({ uuid: uuidSchema }),
      response: publicTenancySchema,
      handle: async ({ params }) => ({
        body: await readPublicTenancy(deps.database, params.uuid),
        headers: { 'access-control-allow-origin': '*' },
      }),
    }),
    route({
      ...self,
      method: 'GET',
      operationId: 'Tenancies_GetAdminTenantInfo',
      summary: 'Get the tenancy of the caller',
      extension: true,
      codes: [401, 403, 429],
      response: ownTenancySchema,
      handle: async ({ principal }) => ({ body: await readOwnTenancy(deps, principal) }),
    }),
    route({
      ...self,
      method: 'PATCH',
      operationId: 'Tenancies_UpdateTenant',
      summary: 'Change the name of the tenancy of the caller, and how its people sign in',
      extension: true,
      codes: [400, 401, 403, 409, 413, 429],
      body: changeTenancySchema,
      response: ownTenancySchema,
      handle: async ({ principal, body }) => ({ body: await changeOwnTenancy(deps, principal, body) }),
    }),
    ...administratorRoutes(deps),
  ];
}

function administratorRoutes(deps: AdministratorDeps): Route[] {
  const list = {
    path: '/archivist/v1/tenancies/root_principals',
    access: 'token',
    success: 200,
    extension: true,
  } as const;
  return [
    route({
      ...list,
      method: 'GET',
      operationId: 'Tenancies_GetRootPrincipals',
      summary: 'List the Owners of the tenancy of the caller',
      codes: [401, 403, 429],
      response: administratorsResponseSchema,
      handle: async ({ principal }) => ({ body: await readAdministrators(deps, principal) }),
    }),
    route({
      ...list,
      method: 'PATCH',
      operationId: 'Tenancies_UpdateRootPrincipals',
      summary: 'Replace the list of the Owners of the tenancy of the caller',
      codes: [400, 401, 403, 413, 429],
      body: replaceAdministratorsSchema,
      response: administratorsResponseSchema,
      handle: async ({ principal, body }) => ({ body: await replaceAdministrators(deps, principal, body) }),
    }),
  ];
}
