import type { JsonWebKey, KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { toHex } from '../core/bytes.js';
import type { SignatureAlgorithm } from '../core/cose/algorithms.js';
import type { CborMap, CborValue } from '../core/cose/cbor.js';
import { jwkFromCoseKey, keyThumbprint } from '../core/cose/cose-key.js';
import { KeyParameter } from '../core/cose/labels.js';
import { keyAlgorithms, type PublicJwk, publicJwk } from '../core/cose/public-key.js';
import { checkSignatureShape } from '../core/cose/verify-sign1.js';
import { VerificationError } from '../core/errors.js';
import { importKey, signatureFitsApart } from '../platform/keys/node-verify.js';

/** A public key that may sign statements, validated when it was read. */
export interface IssuerKey {
  readonly jwk: PublicJwk;
  /** RFC 9679, SHA-256. */
  readonly thumbprint: Uint8Array;
}

/** The key is unusable, or of a kind that is not allowed. The message has the reason, without the key. */
export class KeyUnusable extends Error {
  override readonly name = 'KeyUnusable';
}

/** Members that only private or secret JWKs have. */
const SECRET_MEMBERS = ['d', 'p', 'q', 'k'];
/** The label of the private part of a COSE_Key: −4 for points on a curve, −3 for RSA. */
const SECRET_PARAMETER = { curve: -4, rsa: -3 } as const;

/**
 * Returns a key of an allowed kind: P-256, P-384, P-521, Ed25519, or RSA of 2048 to 8192 bits.
 * @throws {KeyUnusable}
 */
export function issuerKey(key: KeyObject): IssuerKey {
  let jwk: JsonWebKey;
  try {
    jwk = key.export({ format: 'jwk' });
  } catch {
    throw new KeyUnusable(
      `its key is ${key.asymmetricKeyType}, not P-256, P-384, P-521, Ed25519 or RSA (rsaEncryption) of 2048 to 8192 bits`,
    );
  }
  return described(() => publicJwk(jwk));
}

/**
 * Returns the key of a JWK. Rejects private members, because a private key must never be sent, and a key that its own JWK
 * does not offer for signatures: verifiers pass over it. @throws {KeyUnusable}
 */
export function issuerKeyOfJwk(jwk: Readonly<Record<string, unknown>>): IssuerKey {
  if (SECRET_MEMBERS.some((name) => name in jwk)) throw new KeyUnusable('it is not a public key');
  const { kid: _kid, ...members } = jwk;
  return usable(described(() => publicJwk(members)));
}

/** Returns the key of a COSE_Key; type and curve may also be text, as some signers write them. @throws {KeyUnusable} */
export function issuerKeyOfCoseKey(value: CborValue | undefined): IssuerKey {
  if (!(value instanceof Map)) throw new KeyUnusable('it is not a COSE_Key');
  const bare = new Map([...value].filter(([label]) => label !== KeyParameter.kid && label !== KeyParameter.alg));
  const spelling = spellingOf(bare);
  const known = spelling === undefined ? undefined : readBefore.get(spelling);
  if (known) return known;
  const key = described(() => jwkFromCoseKey(bare));
  if (value.has(key.jwk.kty === 'RSA' ? SECRET_PARAMETER.rsa : SECRET_PARAMETER.curve))
    throw new KeyUnusable('it is not a public key');
  const read = usable(key);
  if (spelling !== undefined) readBefore.set(spelling, read);
  return read;
}

/** Keys of statements by their spelling: reading each anew took 7 % of the main thread's time in bulk registrations. */
const readBefore = new LRUCache<string, IssuerKey>({ max: 10_000 });
/** In characters, which the key of a curve stays far below. */
const LONGEST_SPELLING = 512;

/** A text that two COSE_Keys share only if all their parameters are the same, in the same order; undefined for long ones. */
function spellingOf(key: CborMap): string | undefined {
  const parts: (number | string | readonly [string])[] = [];
  for (const part of [...key].flat()) {
    if (part instanceof Uint8Array)
      parts.push([Buffer.from(part.buffer, part.byteOffset, part.length).toString('latin1')]);
    else if (typeof part === 'number' || typeof part === 'string') parts.push(part);
    else return undefined;
  }
  const spelling = JSON.stringify(parts);
  return spelling.length > LONGEST_SPELLING ? undefined : spelling;
}

/** COSE number of the algorithm that a COSE_Key is restricted to; undefined without a restriction. */
export function algorithmOfCoseKey(value: CborValue | undefined): CborValue | undefined {
  return value instanceof Map ? value.get(KeyParameter.alg) : undefined;
}

/**
 * True if this is the algorithm's raw signature over the message by this key; false for a key of another kind. The
 * check runs in the platform's thread pool.
 */
export async function verifies(
  { jwk }: IssuerKey,
  algorithm: SignatureAlgorithm,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  try {
    checkSignatureShape(jwk, signature);
  } catch (error) {
    if (error instanceof VerificationError) return false;
    throw error;
  }
  return signatureFitsApart(jwk, algorithm.number, message, signature);
}

/** True if the key is of the kind that the algorithm uses. */
export function fits({ jwk }: IssuerKey, algorithm: SignatureAlgorithm): boolean {
  return keyAlgorithms(jwk).includes(algorithm.number);
}

function described(read: () => PublicJwk): IssuerKey {
  try {
    const jwk = read();
    return { jwk, thumbprint: keyThumbprint(jwk) };
  } catch (error) {
    if (error instanceof VerificationError) throw new KeyUnusable(error.message);
    throw error;
  }
}

/**
 * Keys by thumbprint, and by the algorithm that an RSA key may be restricted to: importing one costs as much as a
 * verification, and an issuer signs many statements.
 */
const usedBefore = new LRUCache<string, IssuerKey>({ max: 10_000 });

/** The same key, imported once. Checks that its point is on its curve. @throws {KeyUnusable} */
function usable(key: IssuerKey): IssuerKey {
  const name = `${toHex(key.thumbprint)} ${key.jwk.alg ?? ''}`;
  const known = usedBefore.get(name);
  if (known) return known;
  if (!importKey(key.jwk)) throw new KeyUnusable('its point is not on the curve');
  usedBefore.set(name, key);
  return key;
}
