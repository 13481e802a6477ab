import { fromBase64, toBase64Url } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { EVIDENCE_ALGORITHMS } from './algorithms.js';

/** An RSA public key (RFC 7518 section 6.3): base64url without leading zero bytes. */
export type RsaPublicJwk = {
  readonly kty: 'RSA';
  readonly n: string;
  readonly e: string;
  readonly kid?: string;
  readonly alg?: string;
};

/** The COSE number of each RSA algorithm that we check (RFC 8230 section 2), by its name: RSASSA-PSS only. */
export const RSA_ALGORITHMS: Readonly<Record<string, number>> = Object.fromEntries(
  EVIDENCE_ALGORITHMS.flatMap(({ scheme, name, number }) => (scheme === 'RSASSA-PSS' ? [[name, number]] : [])),
);

/** Smaller keys can be broken; larger keys and huge exponents make each check slow. */
const MODULUS_BITS = { least: 2048, most: 8192 } as const;
const MOST_MODULUS_BYTES = MODULUS_BITS.most / 8;
const MOST_EXPONENT_BYTES = 4;
/** Longest text that is decoded at all: somewhat longer than any number that is allowed. */
const MOST_TEXT = 4096;

/** A number as JWK and COSE_Key carry it, without the leading zeros that some libraries put before it. */
function withoutLeadingZeros(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? new Uint8Array() : bytes.subarray(first);
}

function numberBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return withoutLeadingZeros(value);
  if (typeof value !== 'string' || value.length > MOST_TEXT)
    throw new VerificationError('key_invalid', 'an RSA key has no modulus or no exponent');
  try {
    return withoutLeadingZeros(fromBase64(value));
  } catch {
    throw new VerificationError('key_invalid', 'a number of an RSA key is not base64url');
  }
}

const isOdd = (bytes: Uint8Array): boolean => (bytes.at(-1) ?? 0) % 2 === 1;

function bitLength(bytes: Uint8Array): number {
  return bytes.length === 0 ? 0 : bytes.length * 8 - Math.clz32(bytes[0]!) + 24;
}

function checkSize(modulus: Uint8Array): void {
  const bits = bitLength(modulus);
  if (bits < MODULUS_BITS.least || modulus.length > MOST_MODULUS_BYTES)
    throw new VerificationError(
      'unsupported',
      `an RSA key has ${bits} bits, not ${MODULUS_BITS.least} to ${MODULUS_BITS.most}`,
    );
}

/**
 * Modulus and exponent of an RSA key, as base64url of JWK or as bytes of COSE_Key, in their one spelling.
 * @throws {VerificationError} `unsupported` for a modulus under 2,048 or over 8,192 bits, `key_invalid` for an even one or
 * an exponent that is not odd and from 3 to 2³²−1
 */
export function rsaNumbers(n: unknown, e: unknown): Pick<RsaPublicJwk, 'n' | 'e'> {
  const [modulus, exponent] = [numberBytes(n), numberBytes(e)];
  checkSize(modulus);
  const exponentFits =
    isOdd(exponent) && exponent.length <= MOST_EXPONENT_BYTES && !(exponent.length === 1 && exponent[0] === 1);
  if (!isOdd(modulus) || !exponentFits)
    throw new VerificationError('key_invalid', 'an RSA key has an even modulus or an invalid exponent');
  return { n: toBase64Url(modulus), e: toBase64Url(exponent) };
}

/** Returns the bytes of a key's modulus. Each of its signatures has the same length. */
export function modulusOf(key: RsaPublicJwk): Uint8Array {
  return fromBase64(key.n);
}
