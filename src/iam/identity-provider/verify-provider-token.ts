import { createHash } from 'node:crypto';
import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../platform/clock.js';
import type { OutboundFetch } from '../../platform/http/outbound-fetch.js';
import { requireCompact } from '../compact-jwt.js';
import { openProvider } from './open-provider.js';
import { ProviderUnavailable } from './provider-unavailable.js';

/** Only algorithms with published public keys: no HMAC, and never `none`. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Header members that could carry the token's own key, or require rules that we do not support. */
const REFUSED_HEADERS = ['jwk', 'jku', 'x5u', 'x5c', 'crit', 'b64'];
const TYPES: readonly unknown[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt'];
const CLOCK_SKEW_SECONDS = 5;
const REMEMBERED = 1_000;
/** Of the tokens; what is kept of one can be fifteen times as large. */
const REMEMBERED_BYTES = 2 * 1024 * 1024;
const KEYS_LIVE_MS = 10 * 60 * 1000;
/** Each key that a token fits costs a check of its signature. */
const MOST_KEYS_TRIED = 8;
/** The provider has no such key, or the token does not say which one it means. */
const OF_TOKEN = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];

/** Verifies tokens of the providers of tenancies. */
export interface ProviderTokens {
  /**
   * Returns the claims of a token that this issuer signed and that has not expired. The caller must check the audience,
   * because it depends on the tenancy.
   * @throws {ProviderUnavailable} if the issuer's keys cannot be fetched or used
   * @throws {Error} if the token is invalid
   */
  verify(token: string, issuer: string): Promise<JWTPayload>;
}

/** The keys of an issuer, and the time until which they count. */
interface IssuerKeys {
  readonly keyOf: JWTVerifyGetKey;
  readonly untilMs: number;
}

/**
 * Uses only the issuer's own keys, found through the discovery document below its URL. Both are cached for ten minutes,
 * and what was found of a token for as long as the keys that verified it: a key that the provider has withdrawn is found
 * out, also for a token that was seen before.
 */
export function createProviderTokens(deps: {
  readonly clock: Clock;
  readonly fetch: OutboundFetch;
  readonly allowPrivate: boolean;
}): ProviderTokens {
  const lives = { ttl: KEYS_LIVE_MS, ttlResolution: 0, perf: deps.clock };
  const keys = new LRUCache<string, Promise<IssuerKeys>>({ max: 100, ...lives });
  const verified = new LRUCache<string, JWTPayload>({ max: REMEMBERED, maxSize: REMEMBERED_BYTES, ...lives });

  async function openKeys(issuer: string): Promise<IssuerKeys> {
    const untilMs = deps.clock.now() + KEYS_LIVE_MS;
    const provider = await openProvider({ issuer, clientId: 'keys', clientSecret: '' }, deps);
    const { jwks_uri: jwksUri } = provider.serverMetadata();
    if (jwksUri === undefined) throw new Error('the provider publishes no keys');
    const published = createRemoteJWKSet(new URL(jwksUri), {
      [customFetch]: (url, { headers }) => deps.fetch(url, { headers: Object.fromEntries(new Headers(headers)) }),
      cacheMaxAge: KEYS_LIVE_MS,
    });
    return { keyOf: (...token) => published(...token).catch(refuse), untilMs };
  }

  function keysOf(issuer: string): Promise<IssuerKeys> {
    const known = keys.get(issuer);
    if (known) return known;
    const opening = openKeys(issuer).catch(refuse);
    keys.set(issuer, opening);
    opening.catch(() => keys.delete(issuer));
    return opening;
  }

  return {
    async verify(token, issuer) {
      const hash = createHash('sha256').update(issuer).update('\0').update(token).digest('base64');
      const known = verified.get(hash);
      if (known && deps.clock.now() < (known.exp! + CLOCK_SKEW_SECONDS) * 1000) return known;
      requireCompact(token);
      const header = decodeProtectedHeader(token);
      if (REFUSED_HEADERS.some((name) => name in header)) throw new Error('a header member is not accepted');
      if (!TYPES.includes(header.typ?.toLowerCase())) throw new Error('neither an access token nor an ID token');
      const { keyOf, untilMs } = await keysOf(issuer);
      const payload = await claimsOf(token, keyOf, {
        algorithms: ALGORITHMS,
        issuer,
        clockTolerance: CLOCK_SKEW_SECONDS,
        currentDate: new Date(deps.clock.now()),
        requiredClaims: ['exp', 'sub', 'aud'],
      });
      const ttl = untilMs - deps.clock.now();
      // The cache would keep it forever.
      if (ttl > 0) verified.set(hash, payload, { size: token.length, ttl });
      return payload;
    },
  };
}

/** A provider may publish several keys under one id (RFC 7517, section 4.5): the token is by one of those that fit it. */
async function claimsOf(token: string, keyOf: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keyOf, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let tried = 0;
    for await (const key of error) {
      tried += 1;
      if (tried > MOST_KEYS_TRIED) break;
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure;
      }
    }
    throw error;
  }
}

/** @throws {Error} what the token is to blame for, and every other failure as the provider's */
function refuse(error: unknown): never {
  const isOfToken = OF_TOKEN.some((kind) => error instanceof kind);
  throw isOfToken ? error : new ProviderUnavailable({ cause: error });
}
