import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A listening server. */
export interface HttpServer {
  /** Base URL of the address listened on. */
  readonly url: string;
  readonly port: number;
  /** Refuses new connections, ends idle ones, and resolves when the requests under way are answered. */
  close(): Promise<void>;
}

/** Listens, with bounds on how long a client may take to say what it wants. @throws when the address is taken */
export async function listen(handler: RequestListener, address: { host: string; port: number }): Promise<HttpServer> {
  const server: Server = createServer(
    { headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 65_000, maxHeaderSize: 32 * 1024 },
    handler,
  );
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
