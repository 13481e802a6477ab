import { z } from 'zod';
import { type Reply, type Route, route } from '../../platform/http/route.js';
import { tokenIssuer } from '../token-issuer.js';
import { type IssueTokenDeps, issueToken } from './issue-token.js';
import { readTokenRequest } from './token-request.js';

const MAX_FORM = 8 * 1024;
/** Beside cache-control: RFC 6749 section 5.1. */
const NOT_STORED = { pragma: 'no-cache' };

/** The token endpoint (docs/design/interface.md#authentication; RFC 6749 section 4.4, by form members or Basic). */
export function tokenRoutes(deps: IssueTokenDeps): Route[] {
  return [
    route({
      method: 'POST',
      path: '/archivist/iam/v1/appidp/token',
      operationId: 'AppIDP_Token',
      summary: 'Exchange client credentials for an access token',
      access: 'public',
      success: 200,
      storesNothing: true,
      codes: [400, 401, 413, 429],
      bodyLimit: MAX_FORM,
      rawBody: true,
      requestType: 'application/x-www-form-urlencoded',
      rawBodySchema: z.object({
        grant_type: z.literal('client_credentials'),
        client_id: z.uuid().optional(),
        client_secret: z.string().optional(),
      }),
      response: z.object({
        access_token: z.string(),
        expires_in: z.number(),
        token_type: z.literal('Bearer'),
        client_secret_expires_at: z.int(),
      }),
      handle: async ({ rawBody, headers, address }) => {
        const asked = readTokenRequest(rawBody, headers['authorization']);
        if ('error' in asked) return refusal(400, asked.error, asked.description);
        const issued = await issueToken(deps, { ...asked, address });
        return issued
          ? { body: issued, headers: NOT_STORED }
          : refusal(401, 'invalid_client', 'The client id or the client secret is wrong.', {
              'www-authenticate': 'Basic realm="token"',
            });
      },
    }),
    discoveryRoute(deps, '/appidpv1/.well-known/openid-configuration', 'AppIDP_OpenIdConfiguration'),
    discoveryRoute(deps, '/.well-known/oauth-authorization-server/appidpv1', 'AppIDP_ServerMetadata'),
  ];
}

/**
 * Where standard verifiers find the keys of our tokens (OpenID Connect Discovery 1.0 section 4, RFC 8414 section 3).
 */
function discoveryRoute({ publicUrl }: IssueTokenDeps, path: string, operationId: string): Route {
  return route({
    method: 'GET',
    path,
    operationId,
    summary: 'Get the discovery document of the issuer of access tokens',
    access: 'public',
    extension: true,
    success: 200,
    codes: [],
    response: z.record(z.string(), z.unknown()),
    handle: async () => ({
      body: {
        issuer: tokenIssuer(publicUrl),
        token_endpoint: `${publicUrl}/archivist/iam/v1/appidp/token`,
        jwks_uri: `${publicUrl}/.well-known/jwks.json`,
        grant_types_supported: ['client_credentials'],
        response_types_supported: [],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
      },
      headers: { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' },
    }),
  });
}

/** RFC 6749 5.2, with the description also under the name that the rest of the interface uses. */
function refusal(status: number, error: string, description: string, headers: Record<string, string> = {}): Reply {
  const body = { error, error_description: description, description };
  return { status, body, headers: { ...NOT_STORED, ...headers } };
}
