import type { RequestListener } from 'node:http';
import type { Clock } from '../platform/clock.js';
import { explainedPort } from '../platform/explain-failure.js';
import { expiryOf, followCertificate } from '../platform/http/follow-certificate.js';
import { type HttpServer, listen } from '../platform/http/http-server.js';
import { readServerCertificate, type ServerCertificate } from '../platform/http/read-tls-files.js';
import type { Logger } from '../platform/logger.js';
import type { HttpConfig } from './config/http-config.js';

/**
 * Opens the listener for clients with certificates, if configured. A renewed certificate is used within a minute.
 * @param expires is called with the time at which the certificate expires, in milliseconds
 * @throws {Error} naming the variable to correct
 */
export async function listenTls(
  handler: RequestListener,
  { tls, host, connections }: HttpConfig,
  { clock, logger, expires }: { readonly clock: Clock; readonly logger: Logger; expires(atMs: number): void },
): Promise<HttpServer | undefined> {
  if (!tls) return undefined;
  const { certificateFile, keyFile, port } = tls;
  const read = () =>
    readServerCertificate(
      { variable: 'TLS_CERTIFICATE_FILE', file: certificateFile },
      { variable: 'TLS_KEY_FILE', file: keyFile },
    );
  const first = await read();
  const listening = listen(handler, { host, port, connections }, first);
  const server = await explainedPort('TLS_PORT', `TLS_PORT ${port} cannot be used`, listening);
  expires(expiryOf(first));
  const use = (renewed: ServerCertificate) => {
    server.renew(renewed);
    expires(expiryOf(renewed));
  };
  const following = followCertificate({ first, read, use, clock, logger });
  return { ...server, close: async () => void (await Promise.all([following.close(), server.close()])) };
}
