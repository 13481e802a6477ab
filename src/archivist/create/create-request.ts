import type { Principal } from '../../platform/http/principal.js';

/** A create request as its handler passes it on. */
export interface CreateRequest<Body> {
  readonly principal: Principal;
  readonly body: Body;
  /** The bytes of the body; a repeated Idempotency-Key must have the same. */
  readonly rawBody: Uint8Array | string;
  readonly idempotencyKey: string | undefined;
  readonly method: string;
  readonly path: string;
}

/** The create request of a route at this path. Two paths never share an Idempotency-Key. */
export function createRequest<Body>(
  context: {
    principal: Principal;
    rawBody: Uint8Array;
    headers: Readonly<Record<string, string | undefined>>;
  },
  path: string,
  body: Body,
): CreateRequest<Body> {
  const { principal, rawBody, headers } = context;
  return { principal, body, rawBody, idempotencyKey: headers['idempotency-key'], method: 'POST', path };
}
