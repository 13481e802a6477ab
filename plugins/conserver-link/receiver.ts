// Plain node:http: the one route must be able to drop the connection, which is the only refusal that a conserver notices;
// it takes every status for success, and waits for ever for a connection that stays open.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Logger } from '../../src/platform/logger.js';
import { carriesSecret } from './bearer-secret.js';
import { type Operation, OperationError, readOperation } from './operation.js';
import { BODY_LIMITS, BodyError, type BodyLimits, createBodyReader } from './read-body.js';

/** What was kept, as the caller is told. */
export interface Captured {
  readonly job: string;
  readonly subject: string;
  readonly payload: string;
}

export interface ReceiverParts {
  readonly host: string;
  readonly port: number;
  readonly secret?: string | undefined;
  /** Resolves when the operation is on disk. */
  capture(operation: Operation, bytes: Uint8Array): Promise<Captured>;
  /** Resolves when the queue answers. */
  ping(): Promise<void>;
  readonly registry: Registry;
  readonly logger: Logger;
  /** Counts the requests, by what became of them. */
  counted(outcome: 'captured' | 'refused'): void;
  readonly limits?: BodyLimits;
}

export interface Receiver {
  readonly url: string;
  /** Takes no more connections, ends the requests under way, resolves when all are closed. */
  close(): Promise<void>;
}

/** Below two seconds from the last byte, with some to spare: a conserver's worker stands still meanwhile. */
const KEEP_WITHIN_MS = 1_800;
const HEADERS_WITHIN_MS = 1_900;
const REQUEST_WITHIN_MS = 120_000;
const CHECK_EVERY_MS = 250;
const CLOSE_WITHIN_MS = 3_000;

/** Why a request is refused. The message is for the log alone. */
class Refusal extends Error {}

/** Listens for a conserver's `links.webhook`: `POST /operations/{vcon_operation}?chain=&link=`. */
export async function startReceiver(parts: ReceiverParts): Promise<Receiver> {
  const readBody = createBodyReader(parts.limits ?? BODY_LIMITS);

  async function capture(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      authorize(request, parts.secret);
      const operation = readOperation(request.url ?? '');
      const bytes = await readBody(request);
      const captured = await within(KEEP_WITHIN_MS, parts.capture(operation, bytes));
      parts.counted('captured');
      answer(response, 202, 'application/json', JSON.stringify(captured));
    } catch (error) {
      // The socket first: nothing that the log or the metrics do may delay the refusal.
      request.socket.destroy();
      parts.counted('refused');
      const expected = error instanceof Refusal || error instanceof OperationError || error instanceof BodyError;
      if (expected) parts.logger.warn({ reason: error.message }, 'an operation was refused');
      else parts.logger.error({ err: error }, 'an operation could not be kept');
    }
  }

  const server = createServer(
    {
      headersTimeout: HEADERS_WITHIN_MS,
      requestTimeout: REQUEST_WITHIN_MS,
      connectionsCheckingInterval: CHECK_EVERY_MS,
    },
    (request, response) => {
      if (request.method !== 'GET') void capture(request, response);
      else if (request.url === '/healthz') void health(parts, response);
      else if (request.url === '/metrics') void metrics(parts, response);
      else answer(response, 404, 'text/plain', 'not found\n');
    },
  );
  await listen(server, parts);
  return { url: urlOf(server), close: () => closeServer(server) };
}

function authorize(request: IncomingMessage, secret: string | undefined): void {
  if (request.method !== 'POST') throw new Refusal('the method is not POST');
  // A browser says where a page comes from; no page has anything to record here, not even on loopback.
  if (request.headers.origin !== undefined) throw new Refusal('the request comes from a web page');
  if (secret && !carriesSecret(request.headers.authorization, secret))
    throw new Refusal('the Authorization header does not carry PLUGIN_SECRET');
}

async function within<Value>(ms: number, work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Refusal('the queue did not keep it in time')), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function health(parts: ReceiverParts, response: ServerResponse): Promise<void> {
  try {
    await within(KEEP_WITHIN_MS, parts.ping());
    answer(response, 200, 'application/json', '{"status":"ok"}');
  } catch {
    answer(response, 503, 'application/json', '{"status":"the queue does not answer"}');
  }
}

async function metrics(parts: ReceiverParts, response: ServerResponse): Promise<void> {
  try {
    answer(response, 200, parts.registry.contentType, await parts.registry.metrics());
  } catch (error) {
    parts.logger.error({ err: error }, 'metrics');
    answer(response, 500, 'text/plain', 'no metrics\n');
  }
}

function answer(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

function listen(server: Server, { host, port }: ReceiverParts): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN_MS);
    server.close(() => {
      clearTimeout(late);
      resolve();
    });
    server.closeIdleConnections();
  });
}
