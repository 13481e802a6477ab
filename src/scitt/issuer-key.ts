import { constants, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { fromBase64, toBase64Url } from '../core/bytes.js';
import { type CborMap, type CborValue, encodeCbor } from '../core/cose/cbor.js';
import { sha256 } from '../core/sha256.js';
import type { SignatureAlgorithm } from './signature-algorithm.js';

/** A public key that statements may be signed with, checked when it was read. */
export interface IssuerKey {
  readonly key: KeyObject;
  /** Its public members alone (RFC 7517). */
  readonly jwk: Readonly<Record<string, string>>;
  /** RFC 9679, SHA-256. */
  readonly thumbprint: Uint8Array;
}

/** A key that is no key of an allowed kind; the message says why, without the key. */
export class KeyUnusable extends Error {
  override readonly name = 'KeyUnusable';
}

const RSA_BITS = { least: 2048, most: 8192 } as const;
/** Curves by COSE number (RFC 9053 table 18), with the bytes of a coordinate. */
const CURVES = [
  { kty: 'EC', crv: 'P-256', number: 1, width: 32 },
  { kty: 'EC', crv: 'P-384', number: 2, width: 48 },
  { kty: 'EC', crv: 'P-521', number: 3, width: 66 },
  { kty: 'OKP', crv: 'Ed25519', number: 6, width: 32 },
] as const;
const KEY_TYPES: Readonly<Record<string, 'EC' | 'OKP' | 'RSA'>> = {
  1: 'OKP',
  OKP: 'OKP',
  2: 'EC',
  EC: 'EC',
  EC2: 'EC',
  3: 'RSA',
  RSA: 'RSA',
};

/**
 * A key of an allowed kind: P-256, P-384, P-521, Ed25519, or RSA of 2048 to 8192 bits.
 * @throws {KeyUnusable}
 */
export function issuerKey(key: KeyObject): IssuerKey {
  const jwk = publicMembers(key);
  return { key, jwk, thumbprint: sha256(encodeCbor(requiredMembers(jwk))) };
}

/** The key of a JWK. Private members are refused: whoever sends them has told a secret. @throws {KeyUnusable} */
export function issuerKeyOfJwk(jwk: Readonly<Record<string, unknown>>): IssuerKey {
  if ('d' in jwk || 'k' in jwk) throw new KeyUnusable('it is not a public key');
  const { kty, crv, x, y, n, e } = jwk;
  return imported({ kty, crv, x, y, n, e } as JsonWebKey);
}

/** The key of a COSE_Key, also of one with text for type and curve, as some signers write it. @throws {KeyUnusable} */
export function issuerKeyOfCoseKey(value: CborValue | undefined): IssuerKey {
  if (!(value instanceof Map)) throw new KeyUnusable('it is not a COSE_Key');
  const type = value.get(1);
  const kty = typeof type === 'number' || typeof type === 'string' ? KEY_TYPES[type] : undefined;
  if (value.has(-4) && kty !== 'RSA') throw new KeyUnusable('it is not a public key');
  if (kty === 'RSA') return imported({ kty, n: text(value, -1), e: text(value, -2) });
  const curve = CURVES.find((each) => each.kty === kty && [each.number, each.crv].includes(value.get(-1) as never));
  if (!curve) throw new KeyUnusable('it is of no kind that is allowed');
  const x = padded(value.get(-2), curve.width);
  return imported({
    kty: curve.kty,
    crv: curve.crv,
    x,
    ...(kty === 'EC' ? { y: padded(value.get(-3), curve.width) } : {}),
  });
}

/** COSE number of the algorithm that a COSE_Key restricts itself to; undefined for none. */
export function algorithmOfCoseKey(value: CborValue | undefined): CborValue | undefined {
  return value instanceof Map ? value.get(3) : undefined;
}

/** Whether this is the algorithm's raw signature over the message, by this key. False for a key of another kind. */
export function verifies(
  key: IssuerKey,
  algorithm: SignatureAlgorithm,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (!fits(key, algorithm)) return false;
  if (algorithm.signatureLength !== undefined && signature.length !== algorithm.signatureLength) return false;
  if (algorithm.kty === 'EC') {
    const use = { key: key.key, dsaEncoding: 'ieee-p1363' } as const;
    return verify(algorithm.hash, message, use, signature);
  }
  if (algorithm.kty === 'OKP') return verify(null, message, key.key, signature);
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants;
  return verify(algorithm.hash, message, { key: key.key, padding, saltLength }, signature);
}

/** Whether the key is of the kind that the algorithm belongs to. */
export function fits(key: IssuerKey, algorithm: SignatureAlgorithm): boolean {
  return key.jwk['kty'] === algorithm.kty && key.jwk['crv'] === algorithm.crv;
}

function imported(jwk: JsonWebKey): IssuerKey {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    throw new KeyUnusable('it cannot be used: a member is missing, or its point is not on the curve');
  }
  return issuerKey(key);
}

function publicMembers(key: KeyObject): Record<string, string> {
  let exported: JsonWebKey;
  try {
    exported = key.export({ format: 'jwk' });
  } catch {
    throw new KeyUnusable('it is of no kind that is allowed');
  }
  const { kty, crv, x, y, n, e } = exported as Record<string, string | undefined>;
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (kty === 'RSA' && key.asymmetricKeyType === 'rsa') {
    if (bits < RSA_BITS.least || bits > RSA_BITS.most)
      throw new KeyUnusable(`an RSA key must have ${RSA_BITS.least} to ${RSA_BITS.most} bits`);
    return { kty, n: n!, e: e! };
  }
  if (!CURVES.some((curve) => curve.kty === kty && curve.crv === crv))
    throw new KeyUnusable('it is of no kind that is allowed');
  return { kty: kty!, crv: crv!, x: x!, ...(y === undefined ? {} : { y }) };
}

/** What the thumbprint covers (RFC 9679 section 4). */
function requiredMembers(jwk: Readonly<Record<string, string>>): CborMap {
  if (jwk['kty'] === 'RSA')
    return new Map<number, CborValue>([
      [1, 3],
      [-1, fromBase64(jwk['n']!)],
      [-2, fromBase64(jwk['e']!)],
    ]);
  const curve = CURVES.find((each) => each.crv === jwk['crv'])!;
  return new Map<number, CborValue>([
    [1, curve.kty === 'EC' ? 2 : 1],
    [-1, curve.number],
    [-2, fromBase64(jwk['x']!)],
    ...(jwk['y'] === undefined ? [] : [[-3, fromBase64(jwk['y'])] as [number, CborValue]]),
  ]);
}

function text(key: CborMap, label: number): string {
  const value = key.get(label);
  if (!(value instanceof Uint8Array) || value.length === 0 || value.length > 1024)
    throw new KeyUnusable('a member is missing');
  return toBase64Url(value);
}

/** Some signers drop the leading zero bytes of a coordinate. */
function padded(value: CborValue | undefined, width: number): string {
  if (!(value instanceof Uint8Array) || value.length === 0 || value.length > width)
    throw new KeyUnusable(`a coordinate is not ${width} bytes`);
  const full = new Uint8Array(width);
  full.set(value, width - value.length);
  return toBase64Url(full);
}
