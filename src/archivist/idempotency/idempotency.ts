import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { nodeSha256 } from '../../platform/node-sha256.js';

/** Makes a create safe to repeat (docs/design/README.md#data): the caller, the request and a digest of its body. */
export interface IdempotencyClaim {
  readonly tenantId: string;
  /** SHA-256 over principal, `POST`, path and key. */
  readonly scope: Uint8Array;
  readonly bodyHash: Uint8Array;
}

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/**
 * Returns the claim of a request with an Idempotency-Key header; undefined without one.
 * @throws {ApiError} bad_request when the key is not 1 to 255 visible ASCII characters
 */
export function idempotencyClaim(request: {
  principal: Principal;
  path: string;
  rawBody: Uint8Array | string;
  idempotencyKey: string | undefined;
}): IdempotencyClaim | undefined {
  const { principal, path, rawBody, idempotencyKey: key } = request;
  if (key === undefined) return undefined;
  if (!VISIBLE_ASCII.test(key)) {
    throw new ApiError('bad_request', 'Idempotency-Key: must be 1 to 255 visible ASCII characters');
  }
  // The method of every create. It stays, because the stored scopes have it.
  const scope = JSON.stringify([principal.issuer, principal.subject, 'POST', path, key]);
  return {
    tenantId: principal.tenantId,
    scope: nodeSha256(Buffer.from(scope)),
    bodyHash: nodeSha256(typeof rawBody === 'string' ? Buffer.from(rawBody) : rawBody),
  };
}

/** The error for a key that was already used with another body. */
export function keyReused(): ApiError {
  return new ApiError('unprocessable', 'Idempotency-Key: this key was used before with another body');
}
