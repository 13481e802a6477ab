import type { PublicJwk } from '../../core/cose/public-key.js';
import type { Signer } from '../../core/cose/signature.js';
import type { ManifestKeyState } from '../../core/keys/key-manifest.js';
import type { ChainKey } from './chain-key.js';
import type { KeyRole } from './key-role.js';

/** A public key as it is handed out; retired ones stay for ever, with the interval in which they signed. */
export interface PublishedKey {
  /** EC and OKP: RFC 9679 thumbprint; RSA: RFC 7638 thumbprint. base64url. */
  readonly keyId: string;
  readonly role: KeyRole;
  /** JOSE name. */
  readonly algorithm: string;
  /** For every role but `token` and the secp256k1 ones, whose keys no COSE verifier of ours takes. */
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
   * Who signs checkpoints: the active note key first, then those that were retired before it and can still sign, so that
   * whoever follows a log by an older verifier key has time to take the new one.
   */
  noteSigners(): readonly Signer[];
  /**
   * Keys of these roles that count, active ones first, then those that will be; never one that was revoked, and of token
   * keys only those whose private half is here.
   */
  publicKeys(roles: readonly KeyRole[]): readonly PublishedKey[];
  /** The same with revoked keys, last: what checks our own records must still know them. */
  everyKey(roles: readonly KeyRole[]): readonly PublishedKey[];
  /** A compact JWS of the claims under the active token key, RS256, with its kid. */
  signToken(claims: Readonly<Record<string, unknown>>, header: { readonly typ: string }): Promise<string>;
  /** The active key of the chain. */
  readonly chain: ChainKey;
  /** Keys the hashes of secrets. */
  readonly pepper: Uint8Array;
  readonly pageTokenKey: Uint8Array;
}
