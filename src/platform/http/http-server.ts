import { createServer, type RequestListener, type Server } from 'node:http';
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

/** Listens, with bounds on a client's time and headers. @throws when the address is taken */
export async function listen(handler: RequestListener, address: { host: string; port: number }): Promise<HttpServer> {
  const server: Server = createServer(BOUNDS, handler);
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
    url: `http://${host}:${port}`,
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
