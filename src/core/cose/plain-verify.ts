// Curve arithmetic is not ours to write. @noble/curves is small, audited and by the authors of our hash import.
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256, p384, p521 } from '@noble/curves/nist.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { concatBytes, equalBytes, fromBase64 } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { evidenceAlgorithm } from './algorithms.js';
import { type EcPublicJwk, keyAlgorithms, type OkpPublicJwk } from './public-key.js';
import { verifyPss } from './rsa-pss.js';
import type { VerifySignature } from './signature.js';
import { hasSmallOrder } from './small-order.js';

const CURVES = { 'P-256': p256, 'P-384': p384, 'P-521': p521 } as const;
const { Point } = ed25519;
const POINT_BYTES = 32;
const SIGNATURE_BYTES = 64;

/**
 * Checks a signature in plain JavaScript, by each algorithm of evidence, for a platform without Web Crypto: a browser has
 * none on a page that came over plain HTTP. It gives the answers that `webCryptoVerify` gives. It only ever sees public
 * keys, so it does not have to take the same time for each of them.
 * @throws {VerificationError} `key_invalid` when a key is not a point on its curve
 */
export const plainVerify: VerifySignature = async (key, alg, message, signature) => {
  const hash = evidenceAlgorithm(alg)?.hash;
  if (!keyAlgorithms(key).includes(alg) || hasSmallOrder(key, signature)) return false;
  if (key.kty === 'RSA') return verifyPss(key, hash!, message, signature);
  return key.kty === 'EC' ? verifyEcdsa(key, message, signature) : verifyEd25519(key, message, signature);
};

/** ECDSA (FIPS 186-5 section 6.4.2) over r||s; a high s counts, as in Web Crypto. */
function verifyEcdsa({ crv, x, y }: EcPublicJwk, message: Uint8Array, signature: Uint8Array): boolean {
  const curve = CURVES[crv];
  const point = concatBytes(Uint8Array.of(0x04), fromBase64(x), fromBase64(y));
  if (!curve.utils.isValidPublicKey(point, false))
    throw new VerificationError('key_invalid', 'a key is not a point on its curve');
  return signature.length === curve.lengths.signature && curve.verify(signature, message, point, { lowS: false });
}

/**
 * Ed25519 (RFC 8032 section 5.1.7) by the rules of Web Crypto: s is below the order, and the equation is the one without
 * the cofactor. Other equations accept signatures that only some verifiers accept.
 */
function verifyEd25519({ x }: OkpPublicJwk, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES) return false;
  const [publicKey, commitment] = [fromBase64(x), signature.subarray(0, POINT_BYTES)];
  const s = numberOf(signature.subarray(POINT_BYTES));
  const [key, point] = [pointOf(publicKey), pointOf(commitment)];
  if (!key || !point || s >= Point.Fn.ORDER) return false;
  const challenge = Point.Fn.create(numberOf(sha512(concatBytes(commitment, publicKey, message))));
  const reached = Point.BASE.multiplyUnsafe(s).subtract(key.multiplyUnsafe(challenge));
  return equalBytes(reached.toBytes(), commitment);
}

/** The point, if these bytes are its one spelling. */
function pointOf(bytes: Uint8Array) {
  try {
    return Point.fromBytes(bytes);
  } catch {
    return undefined;
  }
}

/** A number, its least significant byte first. */
const numberOf = (bytes: Uint8Array): bigint => bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);
