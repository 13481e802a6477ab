// The one table of algorithms: COSE numbers, JOSE names, hashes and curves. Everything else derives from it.

/** COSE numbers of signature algorithms (RFC 9053 section 2, RFC 8230 section 2, RFC 8812, RFC 9864 section 2.2). */
export const Algorithm = {
  es256: -7,
  eddsa: -8,
  esp256: -9,
  ed25519: -19,
  es384: -35,
  es512: -36,
  ps256: -37,
  ps384: -38,
  ps512: -39,
  es256k: -47,
  esp384: -51,
  esp512: -52,
  rs256: -257,
} as const;

/** COSE numbers of hash algorithms (RFC 9054). */
export const HashAlgorithm = { sha256: -16, sha384: -43, sha512: -44 } as const;

export type HashName = 'SHA-256' | 'SHA-384' | 'SHA-512';

/** A hash algorithm; `length` is in bytes. */
export interface HashRules {
  readonly name: HashName;
  readonly alg: number;
  readonly length: number;
}

export const HASHES: Readonly<Record<HashName, HashRules>> = {
  'SHA-256': { name: 'SHA-256', alg: HashAlgorithm.sha256, length: 32 },
  'SHA-384': { name: 'SHA-384', alg: HashAlgorithm.sha384, length: 48 },
  'SHA-512': { name: 'SHA-512', alg: HashAlgorithm.sha512, length: 64 },
};

/** A curve by its JOSE name; `width` is the bytes of a coordinate. */
export interface Curve {
  readonly kty: 'EC' | 'OKP';
  /** COSE number (RFC 9053 section 7.1, RFC 8812). */
  readonly crv: number;
  readonly width: number;
  /** Order of the group in hex at full width (SEC 2): r and s of an ECDSA signature lie in 1…n−1. */
  readonly order?: string;
}

export const CURVES = {
  'P-256': {
    kty: 'EC',
    crv: 1,
    width: 32,
    order: 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551',
  },
  'P-384': {
    kty: 'EC',
    crv: 2,
    width: 48,
    order: 'ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973',
  },
  'P-521': {
    kty: 'EC',
    crv: 3,
    width: 66,
    order:
      '01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409',
  },
  Ed25519: { kty: 'OKP', crv: 6, width: 32 },
  secp256k1: {
    kty: 'EC',
    crv: 8,
    width: 32,
    order: 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141',
  },
} as const satisfies Readonly<Record<string, Curve>>;

/**
 * A signature algorithm. A curve's keys have one algorithm, under the number that leaves the curve to the key and under the
 * one that names it (RFC 9864); an RSA key has those of its scheme.
 */
export interface SignatureAlgorithm {
  /** The JOSE name. */
  readonly name: string;
  /** The COSE number. */
  readonly number: number;
  readonly scheme: 'ECDSA' | 'EdDSA' | 'RSASSA-PSS' | 'RSASSA-PKCS1-v1_5';
  /** Absent where the scheme hashes by itself. RSASSA-PSS salts are as long as this hash. */
  readonly hash?: HashName;
  /** Absent for RSA. */
  readonly curve?: keyof typeof CURVES;
}

/** The algorithms that evidence may be signed with, a curve's usual number first; we sign with ES256 and EdDSA. */
export const EVIDENCE_ALGORITHMS = [
  { name: 'ES256', number: Algorithm.es256, scheme: 'ECDSA', hash: 'SHA-256', curve: 'P-256' },
  { name: 'ES384', number: Algorithm.es384, scheme: 'ECDSA', hash: 'SHA-384', curve: 'P-384' },
  { name: 'ES512', number: Algorithm.es512, scheme: 'ECDSA', hash: 'SHA-512', curve: 'P-521' },
  { name: 'EdDSA', number: Algorithm.eddsa, scheme: 'EdDSA', curve: 'Ed25519' },
  { name: 'ESP256', number: Algorithm.esp256, scheme: 'ECDSA', hash: 'SHA-256', curve: 'P-256' },
  { name: 'ESP384', number: Algorithm.esp384, scheme: 'ECDSA', hash: 'SHA-384', curve: 'P-384' },
  { name: 'ESP512', number: Algorithm.esp512, scheme: 'ECDSA', hash: 'SHA-512', curve: 'P-521' },
  { name: 'Ed25519', number: Algorithm.ed25519, scheme: 'EdDSA', curve: 'Ed25519' },
  { name: 'PS256', number: Algorithm.ps256, scheme: 'RSASSA-PSS', hash: 'SHA-256' },
  { name: 'PS384', number: Algorithm.ps384, scheme: 'RSASSA-PSS', hash: 'SHA-384' },
  { name: 'PS512', number: Algorithm.ps512, scheme: 'RSASSA-PSS', hash: 'SHA-512' },
] as const satisfies readonly SignatureAlgorithm[];

/** Returns the algorithm of this COSE number with which evidence may be signed; undefined for any other value. */
export function evidenceAlgorithm(number: unknown): SignatureAlgorithm | undefined {
  return EVIDENCE_ALGORITHMS.find((algorithm) => algorithm.number === number);
}
