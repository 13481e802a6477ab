import * as crypto from 'node:crypto';
import { concatBytes } from '../core/bytes.js';
import type { Sha256 } from '../core/sha256.js';

/** Since Node 20.12. An object or a buffer of its own for every hash costs more than the hash: text does not. */
const oneShot: typeof crypto.hash | undefined = crypto.hash;

/** SHA-256 by OpenSSL: the same bytes as the core's own, in less than half the time. */
export const nodeSha256: Sha256 = (...parts) => {
  const whole = parts.length === 1 ? parts[0]! : concatBytes(...parts);
  return new Uint8Array(
    oneShot
      ? Buffer.from(oneShot('sha256', whole, 'binary'), 'binary')
      : crypto.createHash('sha256').update(whole).digest(),
  );
};
