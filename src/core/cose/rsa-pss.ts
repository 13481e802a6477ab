import { sha256, sha384, sha512 } from '@noble/hashes/sha2.js';
import { concatBytes, equalBytes, fromBase64, fromHex, toHex } from '../bytes.js';
import type { HashName } from './algorithms.js';
import type { RsaPublicJwk } from './rsa-key.js';

const HASH_FUNCTIONS = { 'SHA-256': sha256, 'SHA-384': sha384, 'SHA-512': sha512 } as const;
type Hash = (typeof HASH_FUNCTIONS)[HashName];
const TRAILER = 0xbc;

const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${toHex(bytes)}`);

/** A number as this many bytes, the most significant one first. */
const bytesOf = (number: bigint, length: number): Uint8Array => fromHex(number.toString(16).padStart(2 * length, '0'));

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = (result * result) % modulus;
    if (bit === '1') result = (result * base) % modulus;
  }
  return result;
}

/** The mask generation function MGF1 (RFC 8017 appendix B.2.1). */
function mask(seed: Uint8Array, length: number, hash: Hash): Uint8Array {
  const blocks = Math.ceil(length / hash.outputLen);
  const hashes = Array.from({ length: blocks }, (_, count) => hash(concatBytes(seed, bytesOf(BigInt(count), 4))));
  return concatBytes(...hashes).subarray(0, length);
}

/**
 * Checks an RSASSA-PSS signature (RFC 8017 section 8.1.2), with a salt as long as the hash (RFC 8230 section 2). It is one
 * modular power and a comparison, all of it over public numbers.
 * @param key an RSA key as `publicJwk` accepts it
 */
export function verifyPss(
  { n, e }: RsaPublicJwk,
  hashName: HashName,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  const [modulus, exponent] = [numberOf(fromBase64(n)), numberOf(fromBase64(e))];
  const bits = modulus.toString(2).length;
  if (signature.length !== Math.ceil(bits / 8)) return false;
  const number = numberOf(signature);
  if (number >= modulus) return false;
  const encodedBits = bits - 1;
  const encodedNumber = power(number, exponent, modulus);
  if (encodedNumber >> BigInt(encodedBits) !== 0n) return false;
  const encoded = bytesOf(encodedNumber, Math.ceil(encodedBits / 8));
  return isPssEncoding(encoded, encodedBits, message, HASH_FUNCTIONS[hashName]);
}

/** EMSA-PSS-VERIFY (RFC 8017 section 9.1.2). The bits above `encodedBits` are zero. */
function isPssEncoding(encoded: Uint8Array, encodedBits: number, message: Uint8Array, hash: Hash): boolean {
  const length = hash.outputLen;
  const end = encoded.length - length - 1;
  if (end < length + 1 || encoded.at(-1) !== TRAILER) return false;
  const seed = encoded.subarray(end, -1);
  const unmasked = mask(seed, end, hash);
  const block = encoded.subarray(0, end).map((byte, at) => byte ^ unmasked[at]!);
  block[0]! &= 0xff >> (8 * encoded.length - encodedBits);
  const start = end - length - 1;
  if (block[start] !== 1 || block.subarray(0, start).some((byte) => byte !== 0)) return false;
  const salt = block.subarray(start + 1);
  return equalBytes(hash(concatBytes(new Uint8Array(8), hash(message), salt)), seed);
}
