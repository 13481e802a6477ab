import { createHash } from 'node:crypto';
import type { Sha256 } from '../core/sha256.js';

/** SHA-256 by OpenSSL: the same bytes as the core's own, in about half the time. */
export const nodeSha256: Sha256 = (...parts) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
};
