/** What a COSE signature algorithm fixes (RFC 9053, RFC 8230). */
export interface SignatureAlgorithm {
  readonly name: string;
  /** COSE number. */
  readonly number: number;
  readonly kty: 'EC' | 'OKP' | 'RSA';
  /** The curve that belongs to it; RSA has none. */
  readonly crv?: 'P-256' | 'P-384' | 'P-521' | 'Ed25519';
  readonly hash: 'sha256' | 'sha384' | 'sha512' | null;
  /** Bytes of a raw signature; as long as the modulus for RSA. */
  readonly signatureLength?: number;
}

/** The algorithms that a registered statement may be signed with. Each belongs to one kind of key. */
export const SIGNATURE_ALGORITHMS: readonly SignatureAlgorithm[] = [
  { name: 'ES256', number: -7, kty: 'EC', crv: 'P-256', hash: 'sha256', signatureLength: 64 },
  { name: 'ES384', number: -35, kty: 'EC', crv: 'P-384', hash: 'sha384', signatureLength: 96 },
  { name: 'ES512', number: -36, kty: 'EC', crv: 'P-521', hash: 'sha512', signatureLength: 132 },
  { name: 'EdDSA', number: -8, kty: 'OKP', crv: 'Ed25519', hash: null, signatureLength: 64 },
  { name: 'PS256', number: -37, kty: 'RSA', hash: 'sha256' },
  { name: 'PS384', number: -38, kty: 'RSA', hash: 'sha384' },
  { name: 'PS512', number: -39, kty: 'RSA', hash: 'sha512' },
];

/** The allowed algorithm of this COSE number; undefined for any other value. */
export function signatureAlgorithm(number: unknown): SignatureAlgorithm | undefined {
  return SIGNATURE_ALGORITHMS.find((algorithm) => algorithm.number === number);
}
