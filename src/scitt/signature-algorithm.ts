import { Algorithm } from '../core/cose/labels.js';

/** A COSE signature algorithm (RFC 9053, RFC 8230) by its name and number; which keys it is for, the key says. */
export interface SignatureAlgorithm {
  readonly name: string;
  readonly number: number;
}

/** The algorithms that a registered statement may be signed with. Each belongs to one kind of key. */
export const SIGNATURE_ALGORITHMS: readonly SignatureAlgorithm[] = [
  { name: 'ES256', number: Algorithm.es256 },
  { name: 'ES384', number: Algorithm.es384 },
  { name: 'ES512', number: Algorithm.es512 },
  { name: 'EdDSA', number: Algorithm.eddsa },
  { name: 'PS256', number: Algorithm.ps256 },
  { name: 'PS384', number: Algorithm.ps384 },
  { name: 'PS512', number: Algorithm.ps512 },
];

/** The allowed algorithm of this COSE number; undefined for any other value. */
export function signatureAlgorithm(number: unknown): SignatureAlgorithm | undefined {
  return SIGNATURE_ALGORITHMS.find((algorithm) => algorithm.number === number);
}
