import { createHash } from 'node:crypto';
import type { Sha256 } from '../core/sha256.js';

/** SHA-256 by node:crypto: for files of megabytes, several times as fast as the core's own. */
export const nativeSha256: Sha256 = (...parts) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
};
