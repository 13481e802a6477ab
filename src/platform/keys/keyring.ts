import type { PublicJwk } from '../../core/cose/public-key.js';
import type { Signer } from '../../core/cose/signature.js';
import type { ManifestKeyState } from '../../core/keys/key-manifest.js';
import type { ChainKey } from './chain-key.js';
import type { KeyRole } from './key-role.js';

/** A published public key; retired keys stay for ever, with the interval in which they signed. */
export interface PublishedKey {
  /** EC and OKP: RFC 9679 thumbprint; RSA: RFC 7638 thumbprint. base64url. */
  readonly keyId: string;
  readonly role: KeyRole;
  /** JOSE name. */
  readonly algorithm: string;
  /** For every role except `token` and the secp256k1 roles, which our COSE verifiers do not use. */
  readonly jwk: PublicJwk;
  readonly state: ManifestKeyState;
  readonly validFrom: Date;
  readonly validUntil: Date | undefined;
}

/** The service's own keys, in memory. */
export interface Keyring {
  /** The active key of a role. */
  signer(role: 'issuer' | 'statement_receipt' | 'seal' | 'note'): Signer;
  /**
   * The signers of checkpoints: the active note key first, then earlier note keys that can still sign. Clients that
   * know only an older verifier key thus have time to switch.
   */
  noteSigners(): readonly Signer[];
  /**
   * Valid keys of these roles: active ones first, then future ones; never revoked ones, and only token keys whose
   * private half is here.
   */
  publicKeys(roles: readonly KeyRole[]): readonly PublishedKey[];
  /** The same including revoked keys, last: needed to verify our own records. */
  everyKey(roles: readonly KeyRole[]): readonly PublishedKey[];
  /** A compact JWS of the claims under the active token key, RS256, with its kid. */
  signToken(claims: Readonly<Record<string, unknown>>, header: { readonly typ: string }): Promise<string>;
  /** The active key of the chain. */
  readonly chain: ChainKey;
  /** Keys the hashes of secrets. */
  readonly pepper: Uint8Array;
  readonly pageTokenKey: Uint8Array;
}
