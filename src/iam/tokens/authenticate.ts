import { decodeProtectedHeader, importJWK, type JWTPayload, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import type { Authenticate } from '../../platform/http/authenticate.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Keyring, PublishedKey } from '../../platform/keys/keyring.js';
import { textDigest } from '../../platform/node-sha256.js';
import { isReservedClaim } from '../applications/custom-claims.js';
import type { ClientAddress, Standing } from '../applications/standing-store.js';
import { tokenIssuer } from '../token-issuer.js';
import { EPOCH_CLAIM, TOKEN_LIFETIME_SECONDS, tokenAudience } from './access-token.js';
import type { TellRefusedToken } from './tell-refused-token.js';

const CLOCK_SKEW_SECONDS = 5;
const MAX_TOKEN_LENGTH = 8192;
const REMEMBERED_TOKENS = 10_000;
/**
 * A token is valid until it expires (one hour) or its key does. The two extra minutes are for a process that did not
 * learn of the new key at once.
 */
const RETIRED_KEY_HONOURED_MS = (TOKEN_LIFETIME_SECONDS + 120) * 1000;
const TENANT = /^tenant\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Header members that could carry the token's own key, or require rules that we do not support. */
const REFUSED_HEADERS = ['jwk', 'jku', 'x5u', 'x5c', 'crit', 'b64'];

type VerificationKey = Awaited<ReturnType<typeof importJWK>>;

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
 * audience, signed by one of our own token keys (RFC 9068, RFC 8725); all others get the same 401. Verified tokens are
 * cached by hash until they expire. A token only identifies the caller. Permissions are read on each request, so that a
 * removed role and a revoked token take effect with the next request.
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
  const keys = new Map<string, Promise<VerificationKey>>();

  const countsNow = (kid: string) => deps.keyring.publicKeys(['token']).some(({ keyId }) => keyId === kid);

  /** An unknown key id may belong to a key that was created after this process started. */
  async function publishedKey(kid: string): Promise<PublishedKey> {
    const find = () => deps.keyring.publicKeys(['token']).find((key) => key.keyId === kid);
    const known = find();
    if (known) return known;
    await deps.refreshKeys();
    const fresh = find();
    if (!fresh) throw new Error('unknown token key');
    return fresh;
  }

  async function keyOf(kid: string): Promise<VerificationKey> {
    const { jwk, validUntil } = await publishedKey(kid);
    if (validUntil && deps.clock.now() > validUntil.getTime() + RETIRED_KEY_HONOURED_MS)
      throw new Error('old token key');
    const imported = keys.get(kid) ?? importJWK({ ...jwk }, 'RS256');
    keys.set(kid, imported);
    return imported;
  }

  async function verify(token: string): Promise<JWTPayload> {
    const header = decodeProtectedHeader(token);
    if (REFUSED_HEADERS.some((name) => name in header)) throw new Error('a header member is not accepted');
    if (typeof header.kid !== 'string' || header.typ !== 'at+jwt') throw new Error('not an access token');
    const audience = tokenAudience(deps.publicUrl);
    const { payload } = await jwtVerify(token, await keyOf(header.kid), {
      algorithms: ['RS256'],
      typ: 'at+jwt',
      issuer: tokenIssuer(deps.publicUrl),
      audience,
      clockTolerance: CLOCK_SKEW_SECONDS,
      maxTokenAge: TOKEN_LIFETIME_SECONDS,
      currentDate: new Date(deps.clock.now()),
      requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jit_tenant_id'],
    });
    if (payload.aud !== audience) throw new Error('the audience is not exactly ours');
    return payload;
  }

  async function read(token: string): Promise<VerifiedToken> {
    const hash = textDigest(token);
    const known = verified.get(hash);
    if (known) {
      if (deps.clock.now() < known.expiresAtMs && countsNow(known.kid)) return known;
      verified.delete(hash);
      throw refused();
    }
    const payload = await verify(token).catch(() => {
      throw refused();
    });
    const fresh = verifiedToken(payload, decodeProtectedHeader(token).kid!);
    verified.set(hash, fresh);
    return fresh;
  }

  return async (request) => {
    const token = bearerToken(request.headers.authorization);
    const { principal, epoch } = await read(token).catch((error: unknown) => {
      deps.tellRefused(request);
      throw error;
    });
    const now = await deps.standingOf({ tenantId: principal.tenantId, clientId: principal.subject });
    // Last, so that nothing in a token could ever stand for the roles of now.
    if (epoch === now.epoch) return { ...principal, roles: now.roles };
    deps.tellRefused(request, principal);
    throw refused();
  };
}

function bearerToken(authorization: string | undefined): string {
  const token = authorization?.match(/^bearer +([A-Za-z0-9._~+/=-]+) *$/i)?.[1];
  if (!token) throw refused('Send an access token as "Authorization: Bearer <token>".');
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

function refused(description = GET_ANOTHER): ApiError {
  return new ApiError('unauthorized', description, { 'www-authenticate': 'Bearer' });
}
