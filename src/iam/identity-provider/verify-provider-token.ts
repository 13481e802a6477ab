import { createHash } from 'node:crypto';
import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../platform/clock.js';
import type { OutboundFetch } from '../../platform/http/outbound-fetch.js';
import { openProvider } from './open-provider.js';

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

/** Verifies tokens of the providers of tenancies. */
export interface ProviderTokens {
  /**
   * Returns the claims of a token that this issuer signed and that has not expired. The caller must check the audience,
   * because it depends on the tenancy. @throws if the token is invalid, or the issuer's keys cannot be fetched
   */
  verify(token: string, issuer: string): Promise<JWTPayload>;
}

/**
 * Uses only the issuer's own keys, found through the discovery document below its URL; both are cached for ten minutes,
 * and so is what was found of a token.
 */
export function createProviderTokens(deps: {
  readonly clock: Clock;
  readonly fetch: OutboundFetch;
  readonly allowPrivate: boolean;
}): ProviderTokens {
  const lives = { ttl: KEYS_LIVE_MS, ttlResolution: 0, perf: deps.clock };
  const keys = new LRUCache<string, Promise<JWTVerifyGetKey>>({ max: 100, ...lives });
  const verified = new LRUCache<string, JWTPayload>({
    max: REMEMBERED,
    maxSize: REMEMBERED_BYTES,
    // A key that the provider has withdrawn is found out, also for a token that was seen before.
    ...lives,
  });

  async function openKeys(issuer: string): Promise<JWTVerifyGetKey> {
    const provider = await openProvider({ issuer, clientId: 'keys', clientSecret: '' }, deps);
    const { jwks_uri: jwksUri } = provider.serverMetadata();
    if (jwksUri === undefined) throw new Error('the provider publishes no keys');
    return createRemoteJWKSet(new URL(jwksUri), {
      [customFetch]: (url, { headers }) => deps.fetch(url, { headers: Object.fromEntries(new Headers(headers)) }),
      cacheMaxAge: KEYS_LIVE_MS,
    });
  }

  function keysOf(issuer: string): Promise<JWTVerifyGetKey> {
    const known = keys.get(issuer);
    if (known) return known;
    const opening = openKeys(issuer);
    keys.set(issuer, opening);
    opening.catch(() => keys.delete(issuer));
    return opening;
  }

  return {
    async verify(token, issuer) {
      const hash = createHash('sha256').update(issuer).update('\0').update(token).digest('base64');
      const known = verified.get(hash);
      if (known && deps.clock.now() < (known.exp! + CLOCK_SKEW_SECONDS) * 1000) return known;
      const header = decodeProtectedHeader(token);
      if (REFUSED_HEADERS.some((name) => name in header)) throw new Error('a header member is not accepted');
      if (!TYPES.includes(header.typ?.toLowerCase())) throw new Error('neither an access token nor an ID token');
      const { payload } = await jwtVerify(token, await keysOf(issuer), {
        algorithms: ALGORITHMS,
        issuer,
        clockTolerance: CLOCK_SKEW_SECONDS,
        currentDate: new Date(deps.clock.now()),
        requiredClaims: ['exp', 'sub', 'aud'],
      });
      verified.set(hash, payload, { size: token.length });
      return payload;
    },
  };
}
