import { constants } from 'node:crypto';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError } from '../errors.js';
import { boundConnections, USUAL_LIMITS } from './connection-bounds.js';
import { messagesOf } from './create-express.js';
import { drainConnections } from './drain-connections.js';
import { errorBody } from './error-reply.js';
import type { ConnectionLimits } from './open-connections.js';
import { originForm } from './origin-form.js';
import { inTurn } from './pipelined-requests.js';
import type { ServerCertificate } from './read-tls-files.js';
import { refusedHead } from './refused-head.js';
import { paceResponses, type ResponsePace } from './response-pace.js';
import { closeIfUnread, endAfterBody } from './unread-body.js';
import { type UnreadableRequest, unreadableRefusal } from './unreadable-request.js';

/** A listening server. */
export interface HttpServer {
  /** Base URL of the address listened on. */
  readonly url: string;
  readonly port: number;
  /** Uses this certificate for new connections, if the server uses TLS. */
  renew(certificate: ServerCertificate): void;
  /** Refuses new connections, answers what is on its way, and resolves when all connections are closed. */
  close(): Promise<void>;
}

/**
 * Time for a client to send its headers, and their maximum size. Only an upload may use all of `requestTimeout`; other
 * bodies time out sooner (read-body.ts).
 */
const BOUNDS = {
  headersTimeout: 10_000,
  requestTimeout: 3_600_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  // A connection on which nothing moves: a client that does not read its response.
  timeout: 120_000,
  maxHeaderSize: 32 * 1024,
  // Refused below, with the body that every refusal has.
  requireHostHeader: false,
};

const TLS = {
  minVersion: 'TLSv1.2',
  handshakeTimeout: 10_000,
  requestCert: true,
  // Trusted authorities differ between tenancies and are checked on each request.
  rejectUnauthorized: false,
  // A resumed session has the client's certificate, but not the certificates between it and its authority.
  secureOptions: constants.SSL_OP_NO_TICKET,
} as const;

/**
 * Listens, with limits on a client's time and headers. With a certificate it uses TLS and requests a client
 * certificate. A client with no certificate, or with an unknown one, is still accepted and identified by its token.
 * @throws when the address is in use
 */
export async function listen(
  handler: RequestListener,
  address: { host: string; port: number; connections?: ConnectionLimits; pace?: ResponsePace },
  certificate?: ServerCertificate,
): Promise<HttpServer> {
  const messages = messagesOf(handler);
  const tlsServer = certificate && createTlsServer({ ...BOUNDS, ...messages, ...TLS, ...certificate });
  const server: Server = tlsServer ?? createServer({ ...BOUNDS, ...messages });
  const closeIdle = boundConnections(server, address.connections ?? USUAL_LIMITS);
  const drain = drainConnections(server, closeIdle);
  const pace = paceResponses(server, address.pace);
  const answering = new WeakMap<Duplex, ServerResponse>();
  server.on(
    'request',
    inTurn((request, response) => {
      closeIfUnread(request, response);
      pace(response);
      answering.set(request.socket, response);
      const target = originForm(request.url!);
      const refusal = refusedHead(request);
      if (refusal || target === undefined) {
        refuse(response, refusal ?? new ApiError('bad_request', WRONG_TARGET));
        return;
      }
      request.url = target;
      handler(request, response);
    }),
  );
  // Node.js would answer without a body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('clientError', (error, socket) => refuseUnreadable(error, socket, answering.get(socket)));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return {
    url: `${certificate ? 'https' : 'http'}://${host}:${port}`,
    port,
    renew: (renewed) => tlsServer?.setSecureContext({ ...TLS, ...renewed }),
    close: drain,
  };
}

/** Express would answer with a page of its own. The connection ends: what follows may belong to this request. */
function refuse(response: ServerResponse, refusal: ApiError): void {
  const body = JSON.stringify(errorBody(refusal));
  response.statusCode = refusal.status;
  response.setHeader('connection', 'close');
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', Buffer.byteLength(body));
  endAfterBody(response, body);
}

const WRONG_TARGET = 'The target of the request must be a path or an http URL.';

/**
 * Input that is not HTTP never reaches a route; it is refused with the same body. Nothing is written into a response
 * that has begun: it is cut off. @param answering the newest response on the connection
 */
function refuseUnreadable(error: UnreadableRequest, socket: Duplex, answering: ServerResponse | undefined): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  if (answering?.headersSent && !answering.writableFinished) {
    socket.end();
    return;
  }
  const { status, refusal } = unreadableRefusal(error, BOUNDS);
  const body = JSON.stringify(errorBody(refusal));
  const head = `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/json\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
