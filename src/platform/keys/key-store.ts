import type { KeyRole } from './key-role.js';

/** A private half that can sign and never leaves its store. */
export interface PrivateKey {
  /** Where it is: in `KEYS_DIR`, or in the module of `KEY_PROVIDER`. */
  readonly place: 'file' | 'module';
  /**
   * Signs by the algorithm of the key's role: ES256 gives r ‖ s (64 bytes), EdDSA its 64 bytes, RS256 PKCS #1 v1.5, all of
   * them over the message; ES256K takes a digest of 32 bytes and gives recovery ‖ r ‖ s (65 bytes) with s in the lower half.
   */
  sign(message: Uint8Array): Promise<Uint8Array>;
  /** Signs the SHA-256 of a message as r ‖ s; only where that is quicker than the first `sign`. */
  signMessage?(message: Uint8Array): Promise<Uint8Array>;
}

/** A key as the database describes it. */
export interface StoredKey {
  readonly role: KeyRole;
  readonly keyId: string;
  /** JWK of the public half, with only the members of RFC 7638. */
  readonly publicJwk: Record<string, string>;
}

/** Where private halves are created and stored. */
export interface KeyStore {
  /** Creates a key of a role. The private half is durable before this resolves. */
  generate(role: KeyRole): Promise<Omit<StoredKey, 'role'>>;
  /**
   * Resolves with undefined if the private half is not here.
   * @throws {Error} with a message for the operator, if it is here and cannot be used
   */
  open(key: StoredKey): Promise<PrivateKey | undefined>;
  /** What to change if a private half is not here; the end of a sentence. */
  advice(keyId: string): string;
  close(): Promise<void>;
}
