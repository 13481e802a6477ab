import { decodeJwt, type JWTPayload } from 'jose';
import { ApiError, invalidToken, retryLater } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/postgres/database.js';
import type { IdentityProvider } from '../identity-provider/identity-provider.js';
import { findProvidersOfIssuer } from '../identity-provider/identity-provider-store.js';
import { ProviderUnavailable } from '../identity-provider/provider-unavailable.js';
import { readClaims } from '../identity-provider/read-claims.js';
import type { ProviderTokens } from '../identity-provider/verify-provider-token.js';
import { namedTenancy } from '../tenancies/named-tenancy.js';
import type { Member } from './member.js';
import { findMembersAcross } from './member-store.js';

const MAX_TOKEN_LENGTH = 16 * 1024;
/** As long as a provider's issuer may be. */
const MAX_ISSUER_LENGTH = 1024;

/** Maps a bearer token of a tenancy's own provider to its member; the member is looked up on each request. */
type AuthenticateMember = (token: string, wanted: string | undefined) => Promise<Principal>;

/**
 * The issuer that a token claims; undefined if it is not a JWT, or claims something that no issuer can be. Nothing is
 * verified: anybody can send such a token, and what it claims may be any JSON.
 */
export function claimedIssuer(token: string): string | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  try {
    const { iss }: { readonly iss?: unknown } = decodeJwt(token);
    return typeof iss === 'string' && iss.length <= MAX_ISSUER_LENGTH ? iss : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the check of such a token. A token is valid for the tenancies that trust its issuer and are its audience; its
 * subject must be an active member of one of them. If that holds for several tenancies, the request names one in the
 * header `archivist-tenancy`: any Owner can set the audience of another tenancy, and what is meant for that one must not
 * be recorded elsewhere. Every other token gets the same 401, and 503 while its provider gives no keys to check it with.
 * The log says why.
 */
export function createAuthenticateMember(deps: MemberDeps): AuthenticateMember {
  return async (token, wanted) => {
    const principal = await memberOf(deps, token, wanted);
    if (principal) return principal;
    throw invalidToken('The access token is not valid, or not of an active member.');
  };
}

interface MemberDeps {
  readonly database: Database;
  readonly tokens: ProviderTokens;
  readonly logger: Logger;
}

const TRY_AGAIN_SECONDS = 30;
const REFUSED = 'a token of an identity provider is refused';
const NO_KEYS =
  'The identity provider of this token gives no usable keys now, so the token cannot be checked. Try again later.';

/** The claims of a token that is valid; undefined if it is not. @throws {ApiError} unavailable while there are no keys */
async function claimsOf(deps: MemberDeps, token: string, issuer: string): Promise<JWTPayload | undefined> {
  try {
    return await deps.tokens.verify(token, issuer);
  } catch (error) {
    if (!(error instanceof ProviderUnavailable)) {
      deps.logger.info({ err: error, issuer }, REFUSED);
      return undefined;
    }
    deps.logger.warn({ err: error, issuer }, 'tokens of an identity provider are refused');
    throw retryLater('unavailable', NO_KEYS, TRY_AGAIN_SECONDS);
  }
}

async function memberOf(deps: MemberDeps, token: string, wanted: string | undefined): Promise<Principal | undefined> {
  const issuer = claimedIssuer(token);
  if (issuer === undefined || issuer.includes('\0')) return undefined;
  const trusting = await deps.database.inTransaction('system', (tx) => findProvidersOfIssuer(tx, issuer));
  const chosen = trusting.filter((provider) => wanted === undefined || provider.tenantId === namedTenancy(wanted));
  if (chosen.length === 0) return undefined;
  const claims = await claimsOf(deps, token, issuer);
  if (!claims) return undefined;
  const providers = chosen.filter((provider) => isFor(claims, provider));
  if (providers.length === 0) {
    const audiences = chosen.map(({ audience }) => audience).join(' or ');
    const err = new Error(`its audience (aud) is ${[claims.aud ?? []].flat().join(', ')}, and not only ${audiences}`);
    deps.logger.warn({ err, issuer }, REFUSED);
    return undefined;
  }
  const tenantIds = providers.map((provider) => provider.tenantId);
  const { sub } = claims;
  if (!isSubject(sub)) return undefined;
  const members = await deps.database.inTransaction('system', (tx) =>
    findMembersAcross(tx, { issuer, subject: sub }, tenantIds),
  );
  const member = onlyOne(members);
  const provider = providers.find((each) => each.tenantId === member?.tenantId);
  if (!member || !provider) {
    deps.logger.info({ err: new Error('no active member has its subject'), issuer }, REFUSED);
    return undefined;
  }
  const person = personOf(deps, claims, provider);
  if (!person) return undefined;
  return {
    kind: 'member',
    tenantId: member.tenantId,
    issuer,
    subject: sub,
    displayName: person.displayName ?? member.displayName,
    email: person.email ?? member.email,
    roles: member.roles,
    groups: person.groups,
    claims: {},
  };
}

function isSubject(sub: unknown): sub is string {
  return typeof sub === 'string' && sub !== '' && !sub.includes('\0');
}

/** undefined if the claims are unusable. */
function personOf(
  deps: MemberDeps,
  claims: JWTPayload,
  { claimNames, issuer }: IdentityProvider,
): ReturnType<typeof readClaims> | undefined {
  try {
    return readClaims(claims, claimNames);
  } catch (error) {
    deps.logger.warn({ err: error, issuer }, REFUSED);
    return undefined;
  }
}

/** @throws {ApiError} unauthorized, naming the tenancies, if the person is a member of several */
function onlyOne(members: readonly Member[]): Member | undefined {
  if (members.length <= 1) return members[0];
  const tenancies = members.map(({ tenantId }) => `tenancies/${tenantId}`).join(', ');
  throw new ApiError(
    'unauthorized',
    `The access token is valid in several tenancies. Name one in the header archivist-tenancy: ${tenancies}.`,
  );
}

/** A token for several audiences is accepted only if our own client requested it. */
function isFor(
  claims: { readonly aud?: string | string[]; readonly azp?: unknown },
  provider: IdentityProvider,
): boolean {
  const audiences = [claims.aud ?? []].flat();
  if (!audiences.includes(provider.audience)) return false;
  return audiences.length === 1 || claims.azp === provider.clientId;
}
