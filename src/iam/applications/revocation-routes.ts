import { z } from 'zod';
import { type Route, route } from '../../platform/http/route.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import type { AdministerDeps } from '../security/administer.js';
import { revokeTokens } from './revoke-tokens.js';

/**
 * Revocation of a client's tokens: an extension, because the interface leaves them valid until they expire (one hour).
 */
export function revocationRoutes(deps: AdministerDeps): Route[] {
  return [
    route({
      method: 'POST',
      path: '/archivist/iam/v1/applications/:uuid\\:revoke-tokens',
      operationId: 'AppRegistrations_RevokeTokens',
      summary: 'Revoke every token that an application holds, at once',
      access: 'token',
      extension: true,
      success: 200,
      codes: [400, 401, 403, 404, 429],
      params: z.object({ uuid: uuidSchema }),
      response: z.strictObject({}),
      handle: async ({ principal, params }) => {
        await revokeTokens(deps, principal, params.uuid);
        return { body: {} };
      },
    }),
  ];
}
