import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAX_SEALED = 64 * 1024;

/** Encrypts texts that must be read again: others can neither read nor change them, nor move them to another place. */
export interface SealedBox {
  /** @param place where the text belongs; it can be opened only for the same place */
  seal(text: string, place: string): string;
  /** undefined for text that was not sealed here for this place. */
  open(sealed: string, place: string): string | undefined;
}

/** AES-256-GCM with its own key, derived from `secret` for the purpose (HKDF-SHA-256). */
export function createSealedBox(
  secret: Uint8Array,
  purpose: string,
  randomBytes: (count: number) => Uint8Array,
): SealedBox {
  const key = new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(), purpose, 32));
  return {
    seal(text, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place, 'utf8'));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open(text, place) {
      const bytes = text.length > MAX_SEALED ? Buffer.alloc(0) : Buffer.from(text, 'base64url');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(place, 'utf8'))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString(
          'utf8',
        );
      } catch {
        return undefined;
      }
    },
  };
}
