import type { PublicJwk } from './public-key.js';

/** A signer: a key file, a KMS or a test. It never reveals the private key. */
export interface Signer {
  /** COSE algorithm number, the one that fits the key's curve. */
  readonly alg: number;
  /** RFC 9679 thumbprint of the public key, 32 bytes. */
  readonly kid: Uint8Array;
  readonly publicKey: PublicJwk;
  /** Signs the message itself, not its digest; ECDSA answers raw r||s at full width (64 bytes for P-256). */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/** Checks one raw signature over a message; the caller has already matched key, algorithm and signature length. */
export type VerifySignature = (
  key: PublicJwk,
  alg: number,
  message: Uint8Array,
  signature: Uint8Array,
) => Promise<boolean>;
