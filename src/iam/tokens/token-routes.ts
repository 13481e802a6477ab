import { z } from 'zod';
import { type Reply, type Route, route } from '../../platform/http/route.js';
import { type IssueTokenDeps, issueToken } from './issue-token.js';
import { readTokenRequest } from './token-request.js';

const MAX_FORM = 8 * 1024;
const NOT_STORED = { 'cache-control': 'no-store', pragma: 'no-cache' };

/** The token endpoint (interface: Authentication 2; RFC 6749 section 4.4, by form members or Basic). */
export function tokenRoutes(deps: IssueTokenDeps): Route[] {
  return [
    route({
      method: 'POST',
      path: '/archivist/iam/v1/appidp/token',
      operationId: 'AppIDP_Token',
      summary: 'Exchange client credentials for an access token',
      access: 'public',
      success: 200,
      codes: [400, 401, 413, 429],
      bodyLimit: MAX_FORM,
      rawBody: true,
      response: z.object({ access_token: z.string(), expires_in: z.number(), token_type: z.literal('Bearer') }),
      handle: async ({ rawBody, headers, address }) => {
        const asked = readTokenRequest(rawBody, headers['authorization']);
        if ('error' in asked) return refusal(400, asked.error, asked.description);
        const issued = await issueToken(deps, { ...asked, address });
        return issued
          ? { body: issued, headers: NOT_STORED }
          : refusal(401, 'invalid_client', 'The client id or the client secret is not right.', {
              'www-authenticate': 'Basic realm="token"',
            });
      },
    }),
  ];
}

/** RFC 6749 5.2, with the description also under the name that the rest of the interface uses. */
function refusal(status: number, error: string, description: string, headers: Record<string, string> = {}): Reply {
  const body = { error, error_description: description, description };
  return { status, body, headers: { ...NOT_STORED, ...headers } };
}
