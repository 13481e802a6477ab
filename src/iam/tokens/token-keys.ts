import { importJWK } from 'jose';
import type { Clock } from '../../platform/clock.js';
import type { Keyring, PublishedKey } from '../../platform/keys/keyring.js';
import { TOKEN_LIFETIME_SECONDS } from './access-token.js';

/**
 * A token is valid until it expires (one hour) or its key does. The two extra minutes are for a process that did not
 * learn of the new key at once.
 */
const RETIRED_KEY_HONOURED_MS = (TOKEN_LIFETIME_SECONDS + 120) * 1000;

type VerificationKey = Awaited<ReturnType<typeof importJWK>>;

/** The keys could not be read, so nobody knows whether a token's key is one of them. Its cause says why. */
export class TokenKeysUnread extends Error {
  override readonly name = 'TokenKeysUnread';
}

/** The keys that verify access tokens, found by their ids. */
export interface TokenKeys {
  /** Whether tokens of a key are accepted at this moment. */
  countsNow(kid: string): boolean;
  /**
   * @throws {Error} for an unknown key, and for one that retired before any token of now was signed
   * @throws {TokenKeysUnread}
   */
  keyOf(kid: string): Promise<VerificationKey>;
}

/** Each key is imported once. */
export function tokenKeys(deps: {
  readonly keyring: Keyring;
  /** Loads keys that were created since; calls in quick succession share one load. */
  readonly refreshKeys: () => Promise<void>;
  readonly clock: Clock;
}): TokenKeys {
  const imported = new Map<string, Promise<VerificationKey>>();

  const find = (kid: string) => deps.keyring.publicKeys(['token']).find(({ keyId }) => keyId === kid);

  /** An unknown key id may belong to a key that was created after this process started. */
  async function publishedKey(kid: string): Promise<PublishedKey> {
    const known = find(kid);
    if (known) return known;
    await deps.refreshKeys().catch((cause: unknown) => {
      throw new TokenKeysUnread('the token keys could not be read', { cause });
    });
    const fresh = find(kid);
    if (!fresh) throw new Error('unknown token key');
    return fresh;
  }

  return {
    countsNow: (kid) => find(kid) !== undefined,
    async keyOf(kid) {
      const { jwk, validUntil } = await publishedKey(kid);
      if (validUntil && deps.clock.now() > validUntil.getTime() + RETIRED_KEY_HONOURED_MS)
        throw new Error('old token key');
      const key = imported.get(kid) ?? importJWK({ ...jwk }, 'RS256');
      imported.set(kid, key);
      return key;
    },
  };
}
