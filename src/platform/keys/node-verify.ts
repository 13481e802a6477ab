import { constants, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { evidenceAlgorithm } from '../../core/cose/algorithms.js';
import { keyAlgorithms, type PublicJwk } from '../../core/cose/public-key.js';
import type { VerifySignature } from '../../core/cose/signature.js';
import { hasSmallOrder } from '../../core/cose/small-order.js';

/** How OpenSSL is to read a raw signature: r||s, or RSASSA-PSS with a salt as long as the hash. */
const FORMS = {
  EC: { dsaEncoding: 'ieee-p1363' },
  OKP: {},
  RSA: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
} as const;

/** Importing a key costs as much as one verification, and a verifier has few keys for many signatures. */
const imported = new WeakMap<PublicJwk, KeyObject>();

/** The key as OpenSSL uses it; undefined if its point is not on its curve. Each `PublicJwk` is imported once. */
export function importKey(jwk: PublicJwk): KeyObject | undefined {
  const known = imported.get(jwk);
  if (known) return known;
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    imported.set(jwk, key);
    return key;
  } catch {
    return undefined;
  }
}

/** Whether this is the raw signature of a key over a message; false for an algorithm that does not fit the key. */
function signatureFits(jwk: PublicJwk, alg: number, message: Uint8Array, signature: Uint8Array): boolean {
  const algorithm = evidenceAlgorithm(alg);
  const key = algorithm && keyAlgorithms(jwk).includes(alg) ? importKey(jwk) : undefined;
  if (!algorithm || !key || hasSmallOrder(jwk, signature)) return false;
  return verify(algorithm.hash, message, { key, ...FORMS[jwk.kty] }, signature);
}

/** The same as `signatureFits`, checked by the platform's thread pool: many at a time, and the event loop goes on. */
export function signatureFitsApart(
  jwk: PublicJwk,
  alg: number,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const algorithm = evidenceAlgorithm(alg);
  const key = algorithm && keyAlgorithms(jwk).includes(alg) ? importKey(jwk) : undefined;
  if (!algorithm || !key || hasSmallOrder(jwk, signature)) return Promise.resolve(false);
  return new Promise((resolve, reject) => {
    verify(algorithm.hash, message, { key, ...FORMS[jwk.kty] }, signature, (error, fits) =>
      error ? reject(error) : resolve(fits),
    );
  });
}

/** Verifies signatures with OpenSSL: the same results as Web Crypto, faster. */
export const nodeVerify: VerifySignature = async (...check) => signatureFits(...check);
