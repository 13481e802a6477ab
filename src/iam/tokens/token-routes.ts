import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import { type Reply, type Route, route } from '../../platform/http/route.js';
import { type IssueTokenDeps, issueToken } from './issue-token.js';

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
      handle: async ({ rawBody, headers }) => {
        const form = new URLSearchParams(new TextDecoder().decode(rawBody));
        if (form.get('grant_type') !== 'client_credentials') {
          throw new ApiError('bad_request', 'grant_type: must be client_credentials');
        }
        const offered = basicCredentials(headers['authorization']) ?? {
          clientId: form.get('client_id') ?? '',
          clientSecret: form.get('client_secret') ?? '',
        };
        const issued = await issueToken(deps, offered);
        return issued ? { body: issued, headers: NOT_STORED } : invalidClient();
      },
    }),
  ];
}

function basicCredentials(authorization: string | undefined): { clientId: string; clientSecret: string } | undefined {
  const encoded = authorization?.match(/^basic +([A-Za-z0-9+/=]+) *$/i)?.[1];
  if (!encoded) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon < 0) return undefined;
  return { clientId: formDecoded(decoded.slice(0, colon)), clientSecret: formDecoded(decoded.slice(colon + 1)) };
}

/** RFC 6749 2.3.1 encodes both halves as form members; clients that do not are understood as well. */
function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** RFC 6749 5.2, with the description also under the name that the rest of the interface uses. */
function invalidClient(): Reply {
  const description = 'The client id or the client secret is not right.';
  return {
    status: 401,
    body: { error: 'invalid_client', error_description: description, description },
    headers: { ...NOT_STORED, 'www-authenticate': 'Basic realm="token"' },
  };
}
