import { constants, createHash, type KeyObject, sign } from 'node:crypto';
import { type CborMap, type CborValue, encodeCbor } from '../../src/core/cose/cbor.js';
import { signatureInput } from '../../src/core/cose/sign1.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';

/** An algorithm as a signer uses it. */
export interface SampleAlgorithm {
  readonly number: number;
  readonly hash: string | null;
  readonly generate: () => { publicKey: KeyObject; privateKey: KeyObject };
}

const ec = (curve: string) => () => newKeyPair({ type: 'ec', curve });
const rsa = (modulusLength: number) => () => newKeyPair({ type: 'rsa', bits: modulusLength });

export const ALGORITHMS = {
  ES256: { number: -7, hash: 'sha256', generate: ec('P-256') },
  ES384: { number: -35, hash: 'sha384', generate: ec('P-384') },
  ES512: { number: -36, hash: 'sha512', generate: ec('P-521') },
  EdDSA: { number: -8, hash: null, generate: () => newKeyPair({ type: 'ed25519' }) },
  ESP256: { number: -9, hash: 'sha256', generate: ec('P-256') },
  ESP384: { number: -51, hash: 'sha384', generate: ec('P-384') },
  ESP512: { number: -52, hash: 'sha512', generate: ec('P-521') },
  Ed25519: { number: -19, hash: null, generate: () => newKeyPair({ type: 'ed25519' }) },
  PS256: { number: -37, hash: 'sha256', generate: rsa(2048) },
  PS384: { number: -38, hash: 'sha384', generate: rsa(2048) },
  PS512: { number: -39, hash: 'sha512', generate: rsa(2048) },
} as const satisfies Record<string, SampleAlgorithm>;

/** Somebody who signs statements. */
export interface SampleIssuer {
  readonly algorithm: SampleAlgorithm;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export function sampleIssuer(algorithm: SampleAlgorithm = ALGORITHMS.ES256): SampleIssuer {
  return { algorithm, ...algorithm.generate() };
}

/** A public key as statements carry it: integer labels, no algorithm. */
export function coseKeyOf({ publicKey }: SampleIssuer): CborMap {
  const jwk = publicKey.export({ format: 'jwk' });
  const bytes = (text: string | undefined) => new Uint8Array(Buffer.from(text ?? '', 'base64url'));
  if (jwk.kty === 'RSA')
    return new Map<number, CborValue>([
      [1, 3],
      [-1, bytes(jwk.n)],
      [-2, bytes(jwk.e)],
    ]);
  const curve = { 'P-256': 1, 'P-384': 2, 'P-521': 3, Ed25519: 6 }[jwk.crv ?? ''] ?? 0;
  const key = new Map<number, CborValue>([
    [1, jwk.kty === 'EC' ? 2 : 1],
    [-1, curve],
    [-2, bytes(jwk.x)],
  ]);
  return jwk.kty === 'EC' ? key.set(-3, bytes(jwk.y)) : key;
}

export function signatureOf({ algorithm, privateKey }: SampleIssuer, message: Uint8Array): Uint8Array {
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  const how =
    privateKey.asymmetricKeyType === 'rsa'
      ? { key: privateKey, padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : privateKey.asymmetricKeyType === 'ec'
        ? ({ key: privateKey, dsaEncoding: 'ieee-p1363' } as const)
        : privateKey;
  return new Uint8Array(sign(algorithm.hash, message, how));
}

/** What of a sample statement is not the usual. */
export interface SampleParts {
  readonly issuer?: CborValue;
  readonly subject?: CborValue;
  readonly claimsLabel?: 13 | 15;
  readonly payload?: Uint8Array | null;
  /** Protected headers beside or instead of the usual ones; undefined leaves one out. */
  readonly headers?: ReadonlyMap<number, CborValue | undefined>;
  readonly unprotected?: CborMap;
  /** The confirmation claim's key; false for no such claim. */
  readonly confirmation?: CborValue | false;
  /** What the signature is over instead of the payload. */
  readonly signedPayload?: Uint8Array;
  readonly protectedBytes?: Uint8Array;
}

export const SUBJECT = 'vcon://0190a8c0-0000-7000-8000-00000000scit';

/** A hash envelope as the stock samples write it, with the private labels and an embedded key. */
export function sampleStatement(signer: SampleIssuer, parts: SampleParts = {}): Uint8Array {
  const payload = parts.payload === undefined ? sampleDigest('a call') : parts.payload;
  const protectedBytes = parts.protectedBytes ?? encodeCbor(sampleHeader(signer, parts));
  const signed = parts.signedPayload ?? payload ?? new Uint8Array();
  const signature = signatureOf(signer, signatureInput(protectedBytes, signed));
  return tagged([protectedBytes, parts.unprotected ?? new Map(), payload, signature]);
}

/** With tag 18, whatever the four parts are. */
export function tagged(parts: CborValue[]): Uint8Array {
  return new Uint8Array(Buffer.concat([Buffer.of(0xd2), encodeCbor(parts)]));
}

export function sampleHeader(signer: SampleIssuer, parts: SampleParts = {}): CborMap {
  const confirmation = parts.confirmation ?? coseKeyOf(signer);
  const claims: CborMap = new Map<number, CborValue>([
    [1, parts.issuer === undefined ? 'https://issuer.example' : parts.issuer],
    [2, parts.subject === undefined ? SUBJECT : parts.subject],
    ...(confirmation === false ? [] : [[8, new Map([[1, confirmation]])] as [number, CborValue]]),
  ]);
  const header = new Map<number, CborValue | undefined>([
    [1, signer.algorithm.number],
    [4, new TextEncoder().encode('testkey')],
    [16, 'application/hashed+cose'],
    [-6800, -16],
    [-6801, null],
    [-6802, 'application/vcon+json'],
    [
      -6804,
      new Map<string, CborValue>([
        ['vcon_operation', 'vcon_created'],
        ['project', 25],
      ]),
    ],
    [parts.claimsLabel ?? 15, claims],
    ...(parts.headers ?? []),
  ]);
  return new Map([...header].filter((entry): entry is [number, CborValue] => entry[1] !== undefined));
}

export function sampleDigest(text: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(text).digest());
}
