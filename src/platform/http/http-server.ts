import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError } from '../errors.js';
import { errorBody } from './error-reply.js';

/** A listening server. */
export interface HttpServer {
  /** Base URL of the address listened on. */
  readonly url: string;
  readonly port: number;
  /** Refuses new connections, ends idle ones, and resolves when the requests under way are answered. */
  close(): Promise<void>;
}

/**
 * How long a client may take to say what it wants, and how much it may say before the body. An upload has the whole of
 * `requestTimeout`; every other body is given up sooner (read-body.ts).
 */
const BOUNDS = {
  headersTimeout: 10_000,
  requestTimeout: 3_600_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 32 * 1024,
};

const TLS = {
  minVersion: 'TLSv1.2',
  handshakeTimeout: 10_000,
  requestCert: true,
  // Which authorities count is a tenancy's business, and is asked at each request.
  rejectUnauthorized: false,
} as const;

/** The certificate of a TLS listener and its key, in PEM. */
export interface ServerCertificate {
  readonly cert: Uint8Array;
  readonly key: Uint8Array;
}

/**
 * Listens, with bounds on a client's time and headers. With a certificate it speaks TLS and asks clients for theirs: who has
 * none, or one that nobody knows, comes in all the same, and is whoever his token says.
 * @throws when the address is taken, or the certificate does not fit its key
 */
export async function listen(
  handler: RequestListener,
  address: { host: string; port: number },
  certificate?: ServerCertificate,
): Promise<HttpServer> {
  const server: Server = certificate
    ? createTlsServer(
        { ...BOUNDS, ...TLS, cert: Buffer.from(certificate.cert), key: Buffer.from(certificate.key) },
        handler,
      )
    : createServer(BOUNDS, handler);
  server.on('clientError', refuseUnreadable);
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
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

/** What is not HTTP never comes to a route; it is refused in the same words. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = UNREADABLE[error.code ?? ''] ?? '400 Bad Request';
  const body = JSON.stringify(errorBody(new ApiError('bad_request', 'The request is not HTTP that can be read.')));
  const head = `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/json\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

const UNREADABLE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};
