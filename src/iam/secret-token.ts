import { createHmac } from 'node:crypto';
import { toBase64Url } from '../core/bytes.js';

/** The purpose of a secret that we issue; a secret is never valid for another purpose. */
type SecretPurpose = 'session' | 'invite';

/** 256 random bits in 43 characters that need no quoting in a URL or a cookie. */
export function newSecretToken(randomBytes: (count: number) => Uint8Array): string {
  return toBase64Url(randomBytes(32));
}

/** The stored form of the secret: HMAC-SHA-256 under the pepper. */
export function hashSecretToken(pepper: Uint8Array, purpose: SecretPurpose, token: string): Uint8Array {
  return createHmac('sha256', pepper).update(purpose).update('\0').update(token).digest();
}
