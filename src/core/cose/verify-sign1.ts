import { equalBytes, fromBase64, fromHex, utf8 } from '../bytes.js';
import { type VerificationCode, VerificationError } from '../errors.js';
import { CURVES } from './algorithms.js';
import { keyThumbprint } from './cose-key.js';
import { Header } from './labels.js';
import { curveRules, keyAlgorithms, type PublicJwk } from './public-key.js';
import { modulusOf } from './rsa-key.js';
import { type Sign1, signatureInput } from './sign1.js';
import type { VerifySignature } from './signature.js';
import { webCryptoVerify } from './web-crypto-verify.js';

/** What one signature check trusts and supports, and the codes of its failures. */
export interface Sign1Check {
  /** The message in a refusal, such as "the statement-log receipt". */
  readonly what: string;
  /** The only keys that count, whatever the message itself carries. */
  readonly keys: readonly PublicJwk[];
  readonly verifySignature?: VerifySignature | undefined;
  /** Labels that the caller processes: a `crit` that lists any other is refused. */
  readonly understood: readonly number[];
  readonly untrusted: VerificationCode;
  readonly invalid: VerificationCode;
  /** What a refusal with `invalid` says; by default, that the signature does not match. */
  readonly unsigned?: string | undefined;
}

const GROUP_ORDERS = {
  'P-256': fromHex(CURVES['P-256'].order),
  'P-384': fromHex(CURVES['P-384'].order),
  'P-521': fromHex(CURVES['P-521'].order),
} as const;

/** Whether a number is below another one of the same width, both most significant byte first. */
function isBelow(number: Uint8Array, bound: Uint8Array): boolean {
  for (let place = 0; place < number.length; place += 1)
    if (number[place] !== bound[place]) return number[place]! < bound[place]!;
  return false;
}

/** Bytes of a raw signature by this key: r||s at full width, or as long as the modulus. */
function signatureLength(key: PublicJwk): number {
  return key.kty === 'RSA' ? modulusOf(key).length : 2 * curveRules(key.crv).width;
}

/**
 * Refuses what is not a raw signature of this key's kind, before a library sees it. For a curve that is r||s, both at
 * full width and in range; for RSA a number below the modulus, at full width.
 * @throws {VerificationError} `signature_malformed`
 */
export function checkSignatureShape(key: PublicJwk, signature: Uint8Array): void {
  const length = signatureLength(key);
  if (signature.length !== length)
    throw new VerificationError('signature_malformed', `a signature is not ${length} bytes`);
  if (key.kty === 'RSA' && !isBelow(signature, modulusOf(key)))
    throw new VerificationError('signature_malformed', 'a signature is not below its modulus');
  if (key.kty !== 'EC') return;
  const width = length / 2;
  for (const part of [signature.subarray(0, width), signature.subarray(width)])
    if (part.every((byte) => byte === 0) || !isBelow(part, GROUP_ORDERS[key.crv]))
      throw new VerificationError('signature_malformed', 'a signature has r or s out of range');
}

function shapeError(key: PublicJwk, signature: Uint8Array): VerificationError | undefined {
  try {
    checkSignatureShape(key, signature);
    return undefined;
  } catch (error) {
    if (error instanceof VerificationError) return error;
    throw error;
  }
}

/**
 * Returns whether a kid names a key: it is the key's thumbprint, or the kid that was given with the key, as text or as
 * base64url of bytes.
 */
export function keyHasKid(key: PublicJwk, kid: Uint8Array): boolean {
  const known = knownNames.get(key);
  const names = known ?? kidsOf(key);
  if (!known) knownNames.set(key, names);
  return names.some((name) => equalBytes(name, kid));
}

/** A verifier looks through the same few keys for every message. */
const knownNames = new WeakMap<PublicJwk, readonly Uint8Array[]>();

function kidsOf(key: PublicJwk): Uint8Array[] {
  const names = [keyThumbprint(key)];
  if (key.kid === undefined) return names;
  names.push(utf8(key.kid));
  try {
    names.push(fromBase64(key.kid));
  } catch {
    // Not base64url: the kid is text.
  }
  return names;
}

function checkCritical(sign1: Sign1, check: Sign1Check): void {
  if (sign1.unprotectedHeader.has(Header.crit))
    throw new VerificationError('critical_header_unknown', `the crit header of ${check.what} is not protected`);
  if (!sign1.protectedHeader.has(Header.crit)) return;
  const critical = sign1.protectedHeader.get(Header.crit);
  const known =
    Array.isArray(critical) &&
    critical.length > 0 &&
    critical.every(
      (label) => typeof label === 'number' && check.understood.includes(label) && sign1.protectedHeader.has(label),
    );
  if (!known)
    throw new VerificationError(
      'critical_header_unknown',
      `${check.what} marks a header as critical that this program does not support`,
    );
}

function protectedAlgorithm(sign1: Sign1, check: Sign1Check): number {
  const alg = sign1.protectedHeader.get(Header.alg);
  if (typeof alg !== 'number' || sign1.unprotectedHeader.has(Header.alg))
    throw new VerificationError('algorithm_not_allowed', `${check.what} has no protected signature algorithm`);
  return alg;
}

/** Refuses everything but the keys that the message's protected kid names. */
function namedKeys(sign1: Sign1, check: Sign1Check): PublicJwk[] {
  const kid = sign1.protectedHeader.get(Header.kid);
  const keys = kid instanceof Uint8Array ? check.keys.filter((key) => keyHasKid(key, kid)) : [];
  if (keys.length === 0)
    throw new VerificationError(check.untrusted, `${check.what} is not signed by any of the given keys`);
  return keys;
}

/**
 * Checks a COSE_Sign1 over a payload (RFC 9052 section 4.4) with the given keys and resolves with the one that signed.
 * The algorithm comes from the protected header alone and is one that the key is for. `candidates` replaces
 * the look-up by kid for messages that name their key in another place.
 * @throws {VerificationError} `critical_header_unknown`, `algorithm_not_allowed`, `signature_malformed`, `key_invalid`, and
 * the check's own `untrusted` and `invalid`
 */
export async function verifySign1(
  sign1: Sign1,
  payload: Uint8Array,
  check: Sign1Check,
  candidates?: readonly PublicJwk[],
): Promise<PublicJwk> {
  checkCritical(sign1, check);
  const alg = protectedAlgorithm(sign1, check);
  const named = candidates ?? namedKeys(sign1, check);
  const keys = named.filter((key) => keyAlgorithms(key).includes(alg));
  if (keys.length === 0)
    throw new VerificationError(
      'algorithm_not_allowed',
      `${check.what} names an algorithm that does not match its key`,
    );
  const message = signatureInput(sign1.protectedBytes, payload);
  const verify = check.verifySignature ?? webCryptoVerify;
  let misshapen: VerificationError | undefined;
  for (const key of keys) {
    misshapen = shapeError(key, sign1.signature);
    if (!misshapen && (await verify(key, alg, message, sign1.signature))) return key;
  }
  // A signature that only the last of several keys cannot have is not malformed: another key made it.
  if (misshapen && keys.length === 1 && check.invalid !== check.untrusted) throw misshapen;
  throw new VerificationError(
    check.invalid,
    check.unsigned ?? `the signature of ${check.what} does not match its content`,
  );
}
