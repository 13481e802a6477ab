import type { Clock } from '../../src/platform/clock.js';
import { createAccessToken } from './access-token.js';
import { failureOf } from './delivery-failure.js';
import { readIdentity, readJson } from './read-response.js';
import { sendRequest } from './send-request.js';
import { tenancyOfToken } from './token-tenancy.js';

/** A request to the service. */
interface Call {
  /** Names it in errors. */
  readonly what: string;
  readonly path: string;
  /** Sent as JSON with POST; a GET without one. */
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

/** Requests with the bearer token of one application. Each throws `EventRefused` or `DeliverLater`. */
export interface AuthorizedCalls {
  /** A successful response; its body is not read yet. */
  respond(call: Call): Promise<Response>;
  /** The JSON of a successful response. */
  answer<Body extends object>(call: Call): Promise<Body>;
  /** The identity of what the call has created. */
  create(call: Call): Promise<string>;
  /** The application's own tenancy, as `tenant_identity` has it; undefined if its token does not say. */
  tenancy(): Promise<string | undefined>;
}

interface CallingParts {
  /** Base of the service, without `/archivist`. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Called with each token when the client secret expires. */
  readonly secretExpires?: ((clientId: string, atMs: number) => void) | undefined;
}

function requestOf({ body, idempotencyKey }: Call, bearer: string): RequestInit {
  const headers = {
    authorization: `Bearer ${bearer}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
  return body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
}

/** Requests a token when first needed, and again after one 401. */
export function createAuthorizedCalls(parts: CallingParts): AuthorizedCalls {
  const { url, clientId, clientSecret, clock, timeoutMs } = parts;
  const send = (what: string, path: string, init: RequestInit) => sendRequest(what, url + path, init, timeoutMs);
  const attempt = (call: Call, bearer: string) => send(call.what, call.path, requestOf(call, bearer));
  const token = createAccessToken({
    clientId,
    clientSecret,
    clock,
    secretExpires: (atMs) => parts.secretExpires?.(clientId, atMs),
    send: (form) => send('token', '/archivist/iam/v1/appidp/token', { method: 'POST', body: form }),
  });

  let own: string | undefined;
  async function respond(call: Call): Promise<Response> {
    const bearer = await token.get();
    own ??= tenancyOfToken(bearer);
    let response = await attempt(call, bearer);
    if (response.status === 401) {
      await response.body?.cancel();
      token.forget(bearer);
      response = await attempt(call, await token.get());
    }
    if (!response.ok) throw await failureOf(response, call.what, clock.now());
    return response;
  }

  return {
    respond,
    answer: async (call) => readJson(await respond(call), call.what),
    create: async (call) => readIdentity(await respond(call), call.what),
    async tenancy() {
      own ??= tenancyOfToken(await token.get());
      return own;
    },
  };
}
