import type { JsonWebKey } from 'node:crypto';
import type { PublicJwk } from '../../core/cose/public-key.js';
import type { Signer } from '../../core/cose/signature.js';

/** Keys that sign evidence: what verifiers check with `core`. */
export type EvidenceRole = 'issuer' | 'statement_receipt' | 'seal' | 'note';

/** One key for each purpose; none is ever used for two. */
export type KeyRole = EvidenceRole | 'token' | 'chain';

/** The public half of a key with the time in which it signed. Retired keys stay. */
export interface PublishedKey<Jwk = PublicJwk | JsonWebKey> {
  /** base64url of the key's thumbprint: RFC 9679 for elliptic curves, RFC 7638 for RSA. */
  readonly keyId: string;
  readonly role: KeyRole;
  /** JOSE name. */
  readonly algorithm: string;
  readonly jwk: Jwk;
  readonly state: 'active' | 'retired';
  readonly validFrom: Date;
  readonly validUntil?: Date;
}

/** The service's own keys. Private halves never leave it. */
export interface Keyring {
  /** Signs with the role's active key. */
  signer(role: EvidenceRole): Signer;
  /** Active keys and retired ones, in the order in which they came to be. */
  publicKeys(roles: readonly EvidenceRole[]): PublishedKey<PublicJwk>[];
  publicKeys(roles: readonly KeyRole[]): PublishedKey[];
  /** A compact JWS (RS256) over the claims; `kid` and `alg` of the header are the keyring's. */
  signToken(claims: Readonly<Record<string, unknown>>, header: { readonly typ: string }): Promise<string>;
  /** Under which client secrets are hashed. */
  readonly pepper: Uint8Array;
  readonly pageTokenKey: Uint8Array;
}
