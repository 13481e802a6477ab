import type { Principal } from '../../platform/http/principal.js';
import type { AcceptWriter } from '../accept/accept-writer.js';
import type { ReadDeps } from '../read-scope.js';

/** What creating depends on: a repeated request is answered with what is there. */
export interface CreateDeps extends ReadDeps {
  readonly writer: AcceptWriter;
}

/** A create request as its handler passes it on. */
export interface CreateRequest<Body> {
  readonly principal: Principal;
  readonly body: Body;
  /** The bytes of the body; a repeated Idempotency-Key must have the same. */
  readonly rawBody: Uint8Array | string;
  readonly idempotencyKey: string | undefined;
  readonly path: string;
}

/** The create request of a route at this path. Two paths never share an Idempotency-Key. */
export function createRequest<Body>(
  context: {
    principal: Principal;
    body: Body;
    rawBody: Uint8Array;
    headers: Readonly<Record<string, string | undefined>>;
  },
  path: string,
): CreateRequest<Body> {
  const { principal, body, rawBody, headers } = context;
  return { principal, body, rawBody, idempotencyKey: headers['idempotency-key'], path };
}
