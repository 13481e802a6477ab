import { fromBase64, toBase64Url } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { sha256 } from '../sha256.js';
import { type CborMap, type CborValue, decodeCbor, encodeCbor } from './cbor.js';
import { KeyParameter, KeyType, RsaParameter } from './labels.js';
import {
  CURVE_NAMES,
  type CurveName,
  curveRules,
  type PublicJwk,
  publicJwk,
  requireVerifies,
  unsupportedKey,
} from './public-key.js';
import { RSA_ALGORITHMS, rsaNumbers } from './rsa-key.js';

/** The operation in a COSE_Key's list (RFC 9052 table 5). */
const VERIFY = 2;

/** The members that make the key what it is, in the order of their labels (RFC 9679 section 4). */
function keyMembers(jwk: PublicJwk): [number, CborValue][] {
  if (jwk.kty === 'RSA')
    return [
      [KeyParameter.kty, KeyType.rsa],
      [RsaParameter.n, fromBase64(jwk.n)],
      [RsaParameter.e, fromBase64(jwk.e)],
    ];
  return [
    [KeyParameter.kty, jwk.kty === 'EC' ? KeyType.ec2 : KeyType.okp],
    [KeyParameter.crv, curveRules(jwk.crv).crv],
    [KeyParameter.x, fromBase64(jwk.x)],
    ...(jwk.kty === 'EC' ? [[KeyParameter.y, fromBase64(jwk.y)] as [number, CborValue]] : []),
  ];
}

/**
 * Returns the COSE_Key of a public key (RFC 9052 section 7, RFC 8230 section 4), with integer labels and values and
 * coordinates at full width. It has a kid, and the algorithm unless it is an RSA key that names none.
 */
export function coseKeyFromJwk(jwk: PublicJwk, kid: Uint8Array): CborMap {
  const { alg } = jwk;
  const algorithm = jwk.kty === 'RSA' ? (alg === undefined ? undefined : RSA_ALGORITHMS[alg]) : curveRules(jwk.crv).alg;
  return new Map<number, CborValue>([
    ...keyMembers(jwk),
    [KeyParameter.kid, kid],
    ...(algorithm === undefined ? [] : [[KeyParameter.alg, algorithm] as const]),
  ]);
}

/** A verifier compares the same few keys with every message. */
const thumbprints = new WeakMap<PublicJwk, Uint8Array>();

/** Returns the COSE key thumbprint with SHA-256 (RFC 9679): 32 bytes over the required members only. */
export function keyThumbprint(jwk: PublicJwk): Uint8Array {
  const known = thumbprints.get(jwk);
  const thumbprint = known ?? sha256(encodeCbor(new Map(keyMembers(jwk))));
  if (!known) thumbprints.set(jwk, thumbprint);
  return thumbprint.slice();
}

function curveName(value: CborValue | undefined): CurveName | undefined {
  return CURVE_NAMES.find((name) => name === value || curveRules(name).crv === value);
}

/** Some sealers drop the leading zero bytes of a coordinate. */
function paddedCoordinate(value: CborValue | undefined, width: number): string {
  if (typeof value === 'boolean') throw new VerificationError('unsupported', 'a key has a compressed point');
  if (!(value instanceof Uint8Array) || value.length === 0 || value.length > width)
    throw new VerificationError('key_invalid', `a key coordinate is not ${width} bytes`);
  const full = new Uint8Array(width);
  full.set(value, width - value.length);
  return toBase64Url(full);
}

/**
 * Returns the JWK of a COSE_Key. Key type and curve may be text, and coordinates may lack leading zero bytes. A kid of
 * bytes becomes base64url; a kid of text stays as it is.
 * @throws {VerificationError} `unsupported` for another kind of key or one that is not for signatures, `key_invalid` for
 *   a broken one
 */
export function jwkFromCoseKey(key: CborValue): PublicJwk {
  if (!(key instanceof Map)) throw new VerificationError('key_invalid', 'a COSE key is not a map');
  requireVerifies(key.get(KeyParameter.keyOps), VERIFY);
  const kid = key.get(KeyParameter.kid);
  const kty = key.get(KeyParameter.kty);
  return publicJwk({
    ...(kty === KeyType.rsa || kty === 'RSA' ? rsaMembers(key) : curveMembers(key)),
    ...(kid instanceof Uint8Array ? { kid: toBase64Url(kid) } : typeof kid === 'string' ? { kid } : {}),
  });
}

function rsaMembers(key: CborMap): Record<string, unknown> {
  const alg = key.get(KeyParameter.alg);
  const known = Object.entries(RSA_ALGORITHMS).find((names) => names.includes(alg as never));
  if (alg !== undefined && !known) throw unsupportedKey();
  const { n, e } = rsaNumbers(key.get(RsaParameter.n), key.get(RsaParameter.e));
  return { kty: 'RSA', n, e, ...(known ? { alg: known[0] } : {}) };
}

function isAlgorithmOf({ numbers, names }: ReturnType<typeof curveRules>, alg: CborValue | undefined): boolean {
  return alg === undefined || numbers.includes(alg as number) || names.includes(alg as string);
}

function curveMembers(key: CborMap): Record<string, unknown> {
  const crv = curveName(key.get(KeyParameter.crv));
  const kty = key.get(KeyParameter.kty);
  const alg = key.get(KeyParameter.alg);
  const rules = crv && curveRules(crv);
  const keyTypes: readonly (CborValue | undefined)[] =
    rules?.kty === 'EC' ? [KeyType.ec2, 'EC', 'EC2'] : [KeyType.okp, 'OKP'];
  if (!rules || !keyTypes.includes(kty) || !isAlgorithmOf(rules, alg)) throw unsupportedKey();
  return {
    kty: rules.kty,
    crv,
    x: paddedCoordinate(key.get(KeyParameter.x), rules.width),
    ...(rules.kty === 'EC' ? { y: paddedCoordinate(key.get(KeyParameter.y), rules.width) } : {}),
    ...(alg === undefined ? {} : { alg: rules.algName }),
  };
}

/** Returns a COSE Key Set (RFC 9052 section 7) in the given order. Each kid is the key's thumbprint. */
export function encodeCoseKeySet(keys: readonly PublicJwk[]): Uint8Array {
  return encodeCbor(keys.map((jwk) => coseKeyFromJwk(jwk, keyThumbprint(jwk))));
}

/**
 * Returns the keys of a COSE Key Set that can sign evidence. Keys of other kinds are skipped, as RFC 9052 section 7
 * requires.
 * @throws {VerificationError} `malformed` if it is not a key set, `key_invalid` if a key of a supported kind is broken
 */
export function decodeCoseKeySet(bytes: Uint8Array): PublicJwk[] {
  const set = decodeCbor(bytes);
  if (!Array.isArray(set)) throw new VerificationError('malformed', 'a COSE key set is not an array');
  return set.flatMap((key) => {
    try {
      return [jwkFromCoseKey(key)];
    } catch (error) {
      if (error instanceof VerificationError && error.code === 'unsupported') return [];
      throw error;
    }
  });
}
