import { z } from 'zod';
import { type Route, route } from '../../platform/http/route.js';

const principalSchema = z.strictObject({
  tenant_identity: z.string(),
  kind: z.enum(['application', 'member', 'certificate']),
  issuer: z.string(),
  subject: z.string(),
  display_name: z.string(),
  email: z.string(),
  roles: z.array(z.string()),
});

/** How the service identifies the caller: an extension, for programs and pages that show who is signed in. */
export function principalRoutes(): Route[] {
  return [
    route({
      method: 'GET',
      path: '/archivist/iam/v1/principal',
      operationId: 'Principal_Get',
      summary: 'Get the identity by which the service knows the caller',
      access: 'token',
      extension: true,
      success: 200,
      codes: [401, 429],
      response: principalSchema,
      handle: async ({ principal }) => ({
        body: {
          tenant_identity: `tenant/${principal.tenantId}`,
          kind: principal.kind ?? 'application',
          issuer: principal.issuer,
          subject: principal.subject,
          display_name: principal.displayName,
          email: principal.email,
          roles: principal.roles,
        },
      }),
    }),
  ];
}
