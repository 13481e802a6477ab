import { createHmac, timingSafeEqual } from 'node:crypto';
import { toHex } from '../../core/bytes.js';

/** A new secret: 64 hex characters of 32 random bytes. */
export function newClientSecret(randomBytes: (count: number) => Uint8Array): string {
  return toHex(randomBytes(32));
}

/** Returns what is stored of a secret: HMAC-SHA-256 under the pepper, bound to the client that it belongs to. */
export function hashClientSecret(pepper: Uint8Array, clientId: string, secret: string): Uint8Array {
  return createHmac('sha256', pepper).update(clientId).update('\0').update(secret).digest();
}

/** Compares two secret hashes in constant time. */
export function sameSecretHash(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
