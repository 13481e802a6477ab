import { createHash, timingSafeEqual } from 'node:crypto';
import { toBase64Url } from '../../core/bytes.js';
import { ApiError } from '../../platform/errors.js';

/** The file in `KEYS_DIR` that holds the operator's token, as the command line reads it. */
export const OPERATOR_TOKEN = 'operator-token';

/**
 * Returns the check of the operator's token. Anybody with read access to `KEYS_DIR` is the operator, a
 * principal above all tenancies. The token permits only the operator's routes. It is compared by hash, in constant
 * time.
 */
export function createAuthenticateOperator(secret: Uint8Array): (authorization: string | undefined) => void {
  const expected = hashOf(toBase64Url(secret));
  return (authorization) => {
    const token = authorization?.match(/^bearer +([A-Za-z0-9_-]{1,128}) *$/i)?.[1] ?? '';
    if (timingSafeEqual(hashOf(token), expected)) return;
    throw new ApiError('unauthorized', 'Only the operator may do this, with the token in KEYS_DIR/operator-token.');
  };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
