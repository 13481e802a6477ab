import type { KeyPairKind } from './new-key-pair.js';

/**
 * The purpose of a key; each role has its own key. `root` signs the list of the others (core/keys/key-manifest.ts);
 * `wallet` and `tessera` exist once per tenancy.
 */
export type KeyRole =
  | 'root'
  | 'issuer'
  | 'statement_receipt'
  | 'seal'
  | 'note'
  | 'token'
  | 'chain'
  | 'wallet'
  | 'tessera';

interface KeyKind {
  readonly algorithm: string;
  readonly generate: KeyPairKind;
}

const ES256: KeyKind = { algorithm: 'ES256', generate: { type: 'ec', curve: 'prime256v1' } };
const ES256K: KeyKind = { algorithm: 'ES256K', generate: { type: 'ec', curve: 'secp256k1' } };

export const KEY_KINDS: Readonly<Record<KeyRole, KeyKind>> = {
  root: ES256,
  issuer: ES256,
  statement_receipt: ES256,
  seal: ES256,
  note: { algorithm: 'EdDSA', generate: { type: 'ed25519' } },
  token: { algorithm: 'RS256', generate: { type: 'rsa', bits: 2048 } },
  chain: ES256K,
  wallet: ES256K,
  tessera: ES256,
};

/** The service's own keys, which a manifest lists; created by bootstrap. */
export const DEPLOYMENT_ROLES = [
  'issuer',
  'statement_receipt',
  'seal',
  'note',
  'token',
  'chain',
] as const satisfies readonly KeyRole[];
/** Created with each tenancy. */
export const TENANCY_ROLES = ['wallet', 'tessera'] as const satisfies readonly KeyRole[];

/** The secret under which client secrets are hashed; without it, all client secrets are invalid. */
export const TOKEN_PEPPER = 'token-pepper';
/** Role of the row that identifies this secret in the database: its id is a fingerprint. It is not a key. */
export const PEPPER_ROLE = 'token_pepper';
