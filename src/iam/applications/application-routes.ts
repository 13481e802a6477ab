import { z } from 'zod';
import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { type Route, route } from '../../platform/http/route.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import type { PageTokens } from '../../platform/postgres/page-token.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { applicationSchema, changeApplicationSchema, createApplicationSchema } from './application.js';
import { listApplications, readApplication } from './read-applications.js';
import {
  type ApplicationDeps,
  changeApplication,
  deleteApplication,
  regenerateSecret,
  registerApplication,
} from './write-application.js';

const APPLICATIONS = '/archivist/iam/v1/applications';
const byUuid = z.object({ uuid: uuidSchema });

export interface ApplicationRouteDeps extends ApplicationDeps {
  readonly pageTokens: PageTokens;
}

/** Applications (docs/design/interface.md#applications; docs/design/interface.md#shapes). */
export function applicationRoutes(deps: ApplicationRouteDeps): Route[] {
  return [...collectionRoutes(deps), ...itemRoutes(deps)];
}

function collectionRoutes(deps: ApplicationRouteDeps): Route[] {
  const shared = { path: APPLICATIONS, access: 'token', success: 200 } as const;
  return [
    route({
      ...shared,
      method: 'GET',
      operationId: 'AppRegistrations_ListAppRegistrations',
      summary: 'List applications, newest first',
      codes: [206, 400, 401, 403, 429],
      query: listQuerySchema(['display_name']),
      response: pageSchema('applications', applicationSchema),
      handle: async ({ principal, query, headers }) =>
        pageReply(
          'applications',
          await listApplications(deps, principal, { query, exactTotal: wantsExactTotal(headers) }),
        ),
    }),
    route({
      ...shared,
      method: 'POST',
      operationId: 'AppRegistrations_CreateAppRegistration',
      summary: 'Register an application and return its secret, once',
      example: { display_name: 'Conserver plugin', custom_claims: { site: 'berlin' } },
      codes: [400, 401, 402, 403, 413, 429],
      body: createApplicationSchema,
      response: applicationSchema,
      handle: async ({ principal, body }) => ({
        body: await registerApplication(deps, principal, body),
      }),
    }),
  ];
}

function itemRoutes(deps: ApplicationRouteDeps): Route[] {
  const item = { path: `${APPLICATIONS}/:uuid`, params: byUuid, access: 'token', success: 200 } as const;
  return [
    route({
      ...item,
      method: 'GET',
      operationId: 'AppRegistrations_GetAppRegistration',
      summary: 'Read an application',
      codes: [400, 401, 403, 404, 429],
      response: applicationSchema,
      handle: async ({ principal, params }) => ({ body: await readApplication(deps, principal, params.uuid) }),
    }),
    route({
      ...item,
      method: 'PATCH',
      operationId: 'AppRegistrations_UpdateAppRegistration',
      summary: 'Change an application',
      codes: [400, 401, 403, 404, 409, 413, 429],
      body: changeApplicationSchema,
      response: applicationSchema,
      handle: async ({ principal, params, body }) => ({
        body: await changeApplication(deps, principal, params.uuid, body),
      }),
    }),
    route({
      ...item,
      method: 'DELETE',
      operationId: 'AppRegistrations_DeleteAppRegistration',
      summary: 'Delete an application',
      codes: [400, 401, 403, 404, 409, 429],
      response: z.strictObject({}),
      handle: async ({ principal, params }) => {
        await deleteApplication(deps, principal, params.uuid);
        return { body: {} };
      },
    }),
    route({
      ...item,
      method: 'POST',
      path: `${APPLICATIONS}/:uuid\\:regenerate-secret`,
      operationId: 'AppRegistrations_RegenerateAppRegistrationSecret',
      summary: 'Replace the secret of an application and return the new one, once',
      codes: [400, 401, 403, 404, 429],
      response: applicationSchema,
      handle: async ({ principal, params }) => ({
        body: await regenerateSecret(deps, principal, params.uuid),
      }),
    }),
  ];
}
