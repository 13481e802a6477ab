import { VerificationError } from '../errors.js';
import { evidenceAlgorithm, HASHES, type SignatureAlgorithm } from './algorithms.js';
import { keyAlgorithms, type PublicJwk } from './public-key.js';
import type { VerifySignature } from './signature.js';
import { hasSmallOrder } from './small-order.js';

/** How Web Crypto names an algorithm when it imports a key, and when it checks with it. */
interface Parameters {
  readonly key: { readonly name: string; readonly namedCurve?: string; readonly hash?: string };
  readonly use: { readonly name: string; readonly hash?: string; readonly saltLength?: number };
}

function parametersOf({ scheme, hash, curve }: SignatureAlgorithm): Parameters {
  if (scheme === 'ECDSA') return { key: { name: scheme, namedCurve: curve! }, use: { name: scheme, hash: hash! } };
  if (scheme === 'EdDSA') return { key: { name: curve! }, use: { name: curve! } };
  // The salt is as long as the hash (RFC 8230 section 2).
  return { key: { name: 'RSA-PSS', hash: hash! }, use: { name: 'RSA-PSS', saltLength: HASHES[hash!].length } };
}

type Imported = ReturnType<typeof importKey>;

/** Importing a key costs as much as a check with it, and a verifier has few keys for many signatures. */
const imported = new WeakMap<PublicJwk, Map<number, Imported>>();

/** Only what the platform is to see: a foreign `alg` or `kid` says nothing to it. */
function bareJwk(key: PublicJwk) {
  if (key.kty === 'RSA') return { kty: key.kty, n: key.n, e: key.e };
  const { kty, crv, x } = key;
  return kty === 'EC' ? { kty, crv, x, y: key.y } : { kty, crv, x };
}

function importKey(key: PublicJwk, parameters: Parameters['key']) {
  return globalThis.crypto.subtle.importKey('jwk', bareJwk(key), parameters, false, ['verify']).catch(() => {
    throw new VerificationError(
      'key_invalid',
      'a key is not a point on its curve, or this platform does not know its kind',
    );
  });
}

/** A key is imported once for each of its algorithms, also one that is refused. */
function importedKey(key: PublicJwk, alg: number, parameters: Parameters['key']): Imported {
  const known = imported.get(key) ?? new Map<number, Imported>();
  imported.set(key, known);
  const usable = known.get(alg) ?? importKey(key, parameters);
  known.set(alg, usable);
  return usable;
}

/**
 * Checks a signature with Web Crypto, by each algorithm of evidence: the same in Node and in a browser.
 * @throws {VerificationError} `key_invalid` when the platform refuses the key
 */
export const webCryptoVerify: VerifySignature = async (key, alg, message, signature) => {
  const algorithm = evidenceAlgorithm(alg);
  if (!algorithm || !keyAlgorithms(key).includes(alg) || hasSmallOrder(key, signature)) return false;
  const parameters = parametersOf(algorithm);
  const usable = await importedKey(key, alg, parameters.key);
  return globalThis.crypto.subtle.verify(parameters.use, usable, signature.slice(), message.slice());
};
