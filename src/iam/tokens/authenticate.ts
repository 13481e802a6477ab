import { decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../platform/clock.js';
import { MOST_DIFFERENCE_MS } from '../../platform/clock-offset.js';
import { ApiError, invalidToken } from '../../platform/errors.js';
import type { Authenticate } from '../../platform/http/authenticate.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import { textDigest } from '../../platform/node-sha256.js';
import { isReservedClaim } from '../applications/custom-claims.js';
import type { ClientAddress, Standing } from '../applications/standing-store.js';
import { requireCompact } from '../compact-jwt.js';
import { tokenIssuer } from '../token-issuer.js';
import { EPOCH_CLAIM, TOKEN_LIFETIME_SECONDS, tokenAudience } from './access-token.js';
import type { TellRefusedToken } from './tell-refused-token.js';
import { type TokenKeys, TokenKeysUnread, tokenKeys } from './token-keys.js';

/** Another process has issued the token, or will issue the next one. */
const CLOCK_SKEW_SECONDS = MOST_DIFFERENCE_MS / 1000;
const MAX_TOKEN_LENGTH = 8192;
const REMEMBERED_TOKENS = 10_000;
const TENANT = /^tenant\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Header members that could carry the token's own key, or require rules that we do not support. */
const REFUSED_HEADERS = ['jwk', 'jku', 'x5u', 'x5c', 'crit', 'b64'];

/** The part of a verified token that does not change. */
interface VerifiedToken {
  /** Id of the signing key: revoking a key ends its tokens at once, including verified ones. */
  readonly kid: string;
  readonly principal: Omit<Principal, 'roles'>;
  readonly epoch: number;
  readonly expiresAtMs: number;
}

/**
 * Turns an Authorization header into a principal. Accepts only RS256 tokens of type `at+jwt` with our exact issuer and
 * audience, signed by one of our own token keys (RFC 9068, RFC 8725); all others get the same 401, and none gets it
 * because the database fails. Verified tokens are cached by hash until they expire. A token only identifies the caller.
 * Permissions are read on each request, so that a removed role and a revoked token take effect with the next request.
 */
export function createAuthenticate(deps: {
  readonly keyring: Keyring;
  /** Loads keys that were created since; calls in quick succession share one load. */
  readonly refreshKeys: () => Promise<void>;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly standingOf: (client: ClientAddress) => Promise<Standing>;
  readonly tellRefused: TellRefusedToken;
}): Authenticate {
  const verified = new LRUCache<string, VerifiedToken>({ max: REMEMBERED_TOKENS });
  const keys = tokenKeys(deps);

  async function read(token: string): Promise<VerifiedToken> {
    const hash = textDigest(token);
    const known = verified.get(hash);
    if (known) {
      if (deps.clock.now() < known.expiresAtMs && keys.countsNow(known.kid)) return known;
      verified.delete(hash);
      throw refused();
    }
    const payload = await verify(token, keys, deps).catch((error: unknown) => {
      throw error instanceof TokenKeysUnread ? error.cause : refused();
    });
    const fresh = verifiedToken(payload, decodeProtectedHeader(token).kid!);
    verified.set(hash, fresh);
    return fresh;
  }

  return async (request) => {
    const token = bearerToken(request.headers.authorization);
    const { principal, epoch } = await read(token).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'unauthorized') deps.tellRefused(request);
      throw error;
    });
    const now = await deps.standingOf({ tenantId: principal.tenantId, clientId: principal.subject });
    // Last, so that nothing in a token could ever stand for the roles of now.
    if (epoch === now.epoch) return { ...principal, roles: now.roles };
    deps.tellRefused(request, principal);
    throw refused();
  };
}

/** @throws {Error} for any other token than one of ours that is valid now */
async function verify(
  token: string,
  keys: TokenKeys,
  { clock, publicUrl }: { readonly clock: Clock; readonly publicUrl: string },
): Promise<JWTPayload> {
  requireCompact(token);
  const header = decodeProtectedHeader(token);
  if (REFUSED_HEADERS.some((name) => name in header)) throw new Error('a header member is not accepted');
  if (typeof header.kid !== 'string' || header.typ !== 'at+jwt') throw new Error('not an access token');
  const audience = tokenAudience(publicUrl);
  const { payload } = await jwtVerify(token, await keys.keyOf(header.kid), {
    algorithms: ['RS256'],
    typ: 'at+jwt',
    issuer: tokenIssuer(publicUrl),
    audience,
    clockTolerance: CLOCK_SKEW_SECONDS,
    maxTokenAge: TOKEN_LIFETIME_SECONDS,
    currentDate: new Date(clock.now()),
    requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jit_tenant_id'],
  });
  if (payload.aud !== audience) throw new Error('the audience is not exactly ours');
  return payload;
}

function bearerToken(authorization: string | undefined): string {
  const token = authorization?.match(/^bearer +([A-Za-z0-9._~+/=-]+) *$/i)?.[1];
  if (!token) throw new ApiError('unauthorized', 'Send an access token as "Authorization: Bearer <token>".');
  if (token.length > MAX_TOKEN_LENGTH) throw refused();
  return token;
}

function verifiedToken(payload: JWTPayload, kid: string): VerifiedToken {
  const tenantId = text(payload['jit_tenant_id']).match(TENANT)?.[1];
  const subject = text(payload.sub).match(UUID)?.[0];
  const epoch = payload[EPOCH_CLAIM] ?? 0;
  if (!tenantId || !subject || payload['client_id'] !== subject || typeof epoch !== 'number') throw refused();
  const custom = Object.entries(payload).filter(
    (entry): entry is [string, string] => !isReservedClaim(entry[0]) && typeof entry[1] === 'string',
  );
  const principal = {
    kind: 'application' as const,
    tenantId,
    issuer: payload.iss!,
    subject,
    displayName: text(payload['name']),
    email: '',
    claims: Object.fromEntries(custom),
  };
  return { kid, principal, epoch, expiresAtMs: (payload.exp! + CLOCK_SKEW_SECONDS) * 1000 };
}

function text(claim: unknown): string {
  return typeof claim === 'string' ? claim : '';
}

const GET_ANOTHER =
  'The access token is invalid, expired or revoked: get a new one from /archivist/iam/v1/appidp/token.';

function refused(): ApiError {
  return invalidToken(GET_ANOTHER);
}
