import { LRUCache } from 'lru-cache';
import { ApiError } from '../platform/errors.js';
import type { Authenticate } from '../platform/http/authenticate.js';
import type { OutboundFetch } from '../platform/http/outbound-fetch.js';
import type { Logger } from '../platform/logger.js';
import { textDigest } from '../platform/node-sha256.js';
import { createProviderTokens } from './identity-provider/verify-provider-token.js';
import { claimedIssuer, createAuthenticateMember } from './members/authenticate-member.js';
import { mayUseSession, principalOfSession, type SessionDeps } from './sessions/session.js';
import type { FirstLook } from './sign-in/first-look.js';
import type { DisabledTenancies } from './tenancies/disabled-tenancies.js';
import { createAuthenticateCertificate } from './tls-ca-certificates/authenticate-certificate.js';
import { tokenIssuer } from './token-issuer.js';

interface CallerDeps extends SessionDeps {
  readonly logger: Logger;
  /** Checks tokens that the service issued itself. */
  readonly authenticateToken: Authenticate;
  readonly fetch: OutboundFetch;
  readonly allowPrivate: boolean;
  /** Undefined where the service does not offer it. */
  readonly firstLook?: FirstLook | undefined;
  readonly disabled: Pick<DisabledTenancies, 'has'>;
}

/**
 * Returns the check of a request's caller: by an application's token, a token of the identity provider of its tenancy, a
 * browser session, or a client certificate.
 */
export function createAuthenticateCaller(deps: CallerDeps): Authenticate {
  const callerOf = createCallerOf(deps);
  return async (request, again) => {
    const principal = await callerOf(request, again);
    if (!deps.disabled.has(principal.tenantId)) return principal;
    throw new ApiError('unauthorized', 'The tenancy of this token is disabled.');
  };
}

/** A token's issuer selects how it is verified. Without a token, a browser session or a client certificate is used. */
function createCallerOf(deps: CallerDeps): Authenticate {
  const { database, logger, publicUrl, firstLook, authenticateToken } = deps;
  const ofCertificate = createAuthenticateCertificate(deps);
  const ofMember = createAuthenticateMember({ database, logger, tokens: createProviderTokens(deps) });
  const issuerOf = rememberedIssuers();
  return async (request, again) => {
    const { authorization, cookie } = request.headers;
    if (authorization === undefined && mayUseSession(request, publicUrl)) {
      const principal =
        (await firstLook?.principalOf(request, again)) ?? (await principalOfSession(deps, cookie, again));
      if (principal) return principal;
    }
    const shown = authorization === undefined ? await ofCertificate(request) : undefined;
    if (shown) return shown;
    const token = authorization?.match(/^bearer +(\S+) *$/i)?.[1];
    const issuer = token === undefined ? undefined : issuerOf(token);
    if (token === undefined || issuer === undefined || issuer === tokenIssuer(publicUrl))
      return authenticateToken(request);
    return ofMember(token, request.headers['archivist-tenancy']?.toString());
  };
}

const REMEMBERED_ISSUERS = 10_000;

/** The issuer that a token claims. Reading it costs more than anything else in the check of a token seen before. */
function rememberedIssuers(): (token: string) => string | undefined {
  const remembered = new LRUCache<string, string>({ max: REMEMBERED_ISSUERS });
  return (token) => {
    const digest = textDigest(token);
    const known = remembered.get(digest);
    if (known !== undefined) return known;
    const issuer = claimedIssuer(token);
    if (issuer !== undefined) remembered.set(digest, issuer);
    return issuer;
  };
}
