// Plain node:http: the one route must be able to drop the connection, because that is the only refusal that a conserver
// notices. It treats every status as success, and waits forever for a connection that stays open.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { DiskFull } from '../../src/platform/disk/disk-full.js';
import type { ServerCertificate } from '../../src/platform/http/read-tls-files.js';
import type { Logger } from '../../src/platform/logger.js';
import { TimeLimitError, within } from '../../src/platform/time-limit.js';
import { type AnswerLimits, type AnswerWindow, answerWithin } from '../capture/answer-window.js';
import type { Captured } from '../capture/capture-operation.js';
import { type Operation, OperationError, readOperation } from '../operation/operation.js';
import { carriesSecret } from './bearer-secret.js';
import { BODY_LIMITS, BodyError, type BodyLimits, createBodyReader } from './read-body.js';

interface ReceiverParts {
  readonly host: string;
  readonly port: number;
  readonly secret?: string | undefined;
  /** In PEM; with a `ca`, only callers with a certificate from it are accepted. */
  readonly tls?: ReceiverTls | undefined;
  /**
   * Resolves when the operation is on disk. If it rejects, or the caller is refused in the meantime, it must never
   * become an event.
   */
  capture(operation: Operation, bytes: Buffer, window: AnswerWindow): Promise<Captured>;
  /** Resolves when the queue answers. @throws {DiskFull} while captures are refused for lack of room */
  ping(): Promise<void>;
  /** Served at `/metrics`; undefined where they are served elsewhere. */
  readonly registry: Registry | undefined;
  readonly logger: Logger;
  /** Counts the requests by outcome. */
  counted(outcome: 'captured' | 'refused'): void;
  readonly limits?: BodyLimits;
  /** How long `close` reports itself as unhealthy before it refuses connections; 0 by default. */
  readonly drainMs?: number;
}

export interface ReceiverTls extends ServerCertificate {
  readonly ca?: Buffer | undefined;
}

interface Receiver {
  readonly url: string;
  /** Uses these certificates for new connections, if the receiver uses TLS. */
  renew(tls: ReceiverTls): void;
  /**
   * Reports itself as unhealthy for the drain time, then refuses new connections, finishes running requests, and
   * resolves when all are closed.
   */
  close(): Promise<void>;
}

/** Below two seconds from the last byte, with a margin: the conserver's worker is blocked meanwhile. */
const LIMITS: AnswerLimits = { finalMs: 1_200, answerMs: 1_800 };
const HEADERS_WITHIN_MS = 1_900;
const REQUEST_WITHIN_MS = 120_000;
const CHECK_EVERY_MS = 250;
const CLOSE_WITHIN_MS = 3_000;
const LARGE_BYTES = 4 * 1024 * 1024;
/** Further connections are refused: a conserver has a few workers, and each waits for its response. */
const MOST_CONNECTIONS = 512;
const NOT_FOUND = 'Not found. The paths are POST /operations/{vcon_operation}, GET /healthz and GET /metrics.\n';
const UNKEPT = 'the queue did not store it in time';

/** Why a request is refused. The message is only for the log. */
class Refusal extends Error {}
const EXPECTED = [Refusal, OperationError, BodyError, TimeLimitError] as const;

/**
 * Listens for a conserver's `links.webhook`: `POST /operations/{vcon_operation}`, with labels as in `readOperation`.
 */
export async function startReceiver(parts: ReceiverParts): Promise<Receiver> {
  const readBody = createBodyReader(parts.limits ?? BODY_LIMITS);
  const inTurn = createTurns();
  let draining = false;

  async function capture(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      authorize(request, parts.secret);
      const operation = readOperation(request.url ?? '', request.headers);
      const captured = await inTurn(request, async () => {
        const bytes = await readBody(request);
        return answerWithin(LIMITS, (window) => parts.capture(operation, bytes, window), UNKEPT);
      });
      parts.counted('captured');
      answer(response, 202, 'application/json', JSON.stringify(captured));
    } catch (error) {
      // The socket first: logging or metrics must not delay the refusal.
      request.socket.destroy();
      parts.counted('refused');
      const expected = EXPECTED.some((known) => error instanceof known);
      if (expected)
        parts.logger.warn({ reason: (error as Error).message }, 'an operation was refused, and is not recorded');
      else parts.logger.error({ err: error }, 'an operation could not be stored: its caller was refused');
    }
  }

  const server = newServer(parts.tls, (request, response) => {
    if (request.method !== 'GET') void capture(request, response);
    else if (request.url === '/healthz') void health(parts, draining, response);
    else if (request.url === '/metrics' && parts.registry) void metrics(parts.registry, parts.logger, response);
    else answer(response, 404, 'text/plain', NOT_FOUND);
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.on('drop', () => parts.counted('refused'));
  // Without a listener Node answers 400, 408 or 431, and a conserver takes every status for success.
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    socket.destroy();
    if (error.code !== 'ECONNRESET')
      parts.logger.warn({ reason: error.code }, 'a request was refused before it could be read');
  });
  await listen(server, parts);
  return {
    url: urlOf(server, parts.tls ? 'https' : 'http'),
    renew(tls) {
      if (server instanceof TlsServer) server.setSecureContext(tls);
    },
    async close() {
      draining = true;
      if (parts.drainMs) await wait(parts.drainMs);
      await closeServer(server);
    },
  };
}

/**
 * Runs the work of requests at once, but that of large bodies one after the other, each from its first byte to its answer:
 * reading one takes half a second, and several at once would use up each other's time until all are refused. A body that
 * waits stays with its sender.
 */
function createTurns(): <Value>(request: IncomingMessage, work: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  return (request, work) => {
    if (!(Number(request.headers['content-length']) > LARGE_BYTES)) return work();
    const turn = last.then(() => {
      if (request.destroyed) throw new BodyError('the connection ended before its turn');
      return work();
    });
    last = turn.catch(() => undefined);
    return turn;
  };
}

function newServer(
  tls: ReceiverTls | undefined,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const bounds = {
    headersTimeout: HEADERS_WITHIN_MS,
    requestTimeout: REQUEST_WITHIN_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
  };
  if (!tls) return createServer(bounds, handle);
  const asked = tls.ca ? { ca: tls.ca, requestCert: true, rejectUnauthorized: true } : {};
  return createTlsServer({ ...bounds, cert: tls.cert, key: tls.key, ...asked }, handle);
}

function authorize(request: IncomingMessage, secret: string | undefined): void {
  if (request.method !== 'POST') throw new Refusal('the method is not POST');
  // A browser sends the origin of a page; no page may record anything here, not even on loopback.
  if (request.headers.origin !== undefined) throw new Refusal('the request comes from a web page');
  if (secret && !carriesSecret(request.headers.authorization, secret))
    throw new Refusal('the Authorization header does not carry PLUGIN_SECRET');
}

async function health(parts: ReceiverParts, draining: boolean, response: ServerResponse): Promise<void> {
  if (draining) return answer(response, 503, 'application/json', '{"status":"stopping"}');
  try {
    await within(LIMITS.answerMs, parts.ping(), 'the queue does not answer');
    answer(response, 200, 'application/json', '{"status":"ok"}');
  } catch (error) {
    const status = error instanceof DiskFull ? error.message : 'the queue does not answer';
    answer(response, 503, 'application/json', JSON.stringify({ status }));
  }
}

async function metrics(registry: Registry, logger: Logger, response: ServerResponse): Promise<void> {
  try {
    answer(response, 200, registry.contentType, await registry.metrics());
  } catch (error) {
    logger.error({ err: error }, 'metrics');
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

function urlOf(server: Server, scheme: string): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
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
