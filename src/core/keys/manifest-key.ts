import { fromBase64, toBase64Url, utf8 } from '../bytes.js';
import { Algorithm, CURVES } from '../cose/algorithms.js';
import { type CborMap, type CborValue, encodeCbor } from '../cose/cbor.js';
import { KeyParameter, KeyType, RsaParameter } from '../cose/labels.js';
import { VerificationError } from '../errors.js';
import { sha256 } from '../sha256.js';

/** Algorithms of the deployment's keys, by their JOSE names. */
type ManifestAlgorithm = 'ES256' | 'EdDSA' | 'RS256' | 'ES256K';

/** A public key as a manifest or a certificate of ours names it. */
export interface NamedKey {
  /** base64url; see `manifestKeyId`. */
  readonly keyId: string;
  readonly algorithm: ManifestAlgorithm;
  /** The required members only (RFC 7638). */
  readonly jwk: Readonly<Record<string, string>>;
}

interface Kind {
  readonly algorithm: ManifestAlgorithm;
  readonly alg: number;
  readonly kty: number;
  /** Text members, then numbers, in the order of RFC 7638. */
  readonly jwk: Readonly<Record<string, string>>;
  readonly crv?: number;
  readonly width?: number;
}

function curveKind(algorithm: ManifestAlgorithm, alg: number, name: keyof typeof CURVES): Kind {
  const { kty, crv, width } = CURVES[name];
  return { algorithm, alg, kty: kty === 'EC' ? KeyType.ec2 : KeyType.okp, jwk: { crv: name, kty }, crv, width };
}

const KINDS: readonly Kind[] = [
  curveKind('ES256', Algorithm.es256, 'P-256'),
  curveKind('EdDSA', Algorithm.eddsa, 'Ed25519'),
  curveKind('ES256K', Algorithm.es256k, 'secp256k1'),
  { algorithm: 'RS256', alg: Algorithm.rs256, kty: KeyType.rsa, jwk: { kty: 'RSA' } },
];

function bad(reason: string): VerificationError {
  return new VerificationError('malformed', `a key in a signed list of keys ${reason}`);
}

function membersOf(kind: Kind, jwk: Readonly<Record<string, string>>): [number, CborValue][] {
  const bytes = (name: string) => fromBase64(jwk[name] ?? '');
  if (kind.algorithm === 'RS256')
    return [
      [KeyParameter.kty, kind.kty],
      [RsaParameter.n, bytes('n')],
      [RsaParameter.e, bytes('e')],
    ];
  return [
    [KeyParameter.kty, kind.kty],
    [KeyParameter.crv, kind.crv!],
    [KeyParameter.x, bytes('x')],
    ...(kind.kty === KeyType.ec2 ? [[KeyParameter.y, bytes('y')] as [number, CborValue]] : []),
  ];
}

function kindOf(jwk: Readonly<Record<string, string>>): Kind {
  const kind = KINDS.find((each) => Object.entries(each.jwk).every(([name, value]) => jwk[name] === value));
  if (!kind) throw new TypeError('a key is of a kind that deployments do not use');
  return kind;
}

/**
 * Returns the id of a key, 32 bytes: of P-256 and Ed25519 keys the RFC 9679 thumbprint, of RSA and secp256k1 keys the RFC
 * 7638 thumbprint, both with SHA-256.
 */
function manifestKeyId(jwk: Readonly<Record<string, string>>): Uint8Array {
  const kind = kindOf(jwk);
  if (kind.algorithm === 'ES256' || kind.algorithm === 'EdDSA')
    return sha256(encodeCbor(new Map(membersOf(kind, jwk))));
  const names = kind.algorithm === 'RS256' ? ['e', 'kty', 'n'] : ['crv', 'kty', 'x', 'y'];
  return sha256(utf8(JSON.stringify(Object.fromEntries(names.map((name) => [name, jwk[name]])))));
}

/** Returns the key as a manifest names it. @throws {TypeError} if it is of a kind that deployments do not use */
export function namedKey(jwk: Readonly<Record<string, string>>): NamedKey {
  const kind = kindOf(jwk);
  const names = kind.algorithm === 'RS256' ? ['kty', 'n', 'e'] : ['kty', 'crv', 'x', ...('y' in jwk ? ['y'] : [])];
  const members = Object.fromEntries(names.map((name) => [name, jwk[name]!]));
  return { keyId: toBase64Url(manifestKeyId(members)), algorithm: kind.algorithm, jwk: members };
}

/** Returns the COSE_Key (RFC 9052 section 7) with its id and algorithm. */
export function encodeNamedKey({ jwk }: NamedKey): CborMap {
  const kind = kindOf(jwk);
  return new Map<number, CborValue>([
    ...membersOf(kind, jwk),
    [KeyParameter.kid, manifestKeyId(jwk)],
    [KeyParameter.alg, kind.alg],
  ]);
}

function bytesAt(map: CborMap, label: number, width?: number): Uint8Array {
  const value = map.get(label);
  const right = value instanceof Uint8Array && value.length > 0 && (width === undefined || value.length === width);
  if (!right) throw bad('has a number of the wrong length');
  return value;
}

/**
 * Reads such a COSE_Key. Which members it must have and that its id is its own is checked by encoding it again.
 * @throws {VerificationError} `malformed`
 */
export function decodeNamedKey(value: CborValue | undefined): NamedKey {
  if (!(value instanceof Map)) throw bad('is not a map');
  const kind = KINDS.find(({ alg, kty, crv }) => {
    const curve = crv === undefined || value.get(KeyParameter.crv) === crv;
    return value.get(KeyParameter.alg) === alg && value.get(KeyParameter.kty) === kty && curve;
  });
  if (!kind) throw bad('is not P-256, Ed25519, secp256k1 or RSA with its algorithm');
  const text = (label: number, width?: number) => toBase64Url(bytesAt(value, label, width));
  const jwk: Record<string, string> =
    kind.algorithm === 'RS256'
      ? { kty: 'RSA', n: text(RsaParameter.n), e: text(RsaParameter.e) }
      : {
          kty: kind.jwk['kty']!,
          crv: kind.jwk['crv']!,
          x: text(KeyParameter.x, kind.width),
          ...(kind.kty === KeyType.ec2 ? { y: text(KeyParameter.y, kind.width) } : {}),
        };
  return namedKey(jwk);
}
