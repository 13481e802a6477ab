import { X509Certificate } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { explainedPort } from '../platform/explain-failure.js';
import { type HttpServer, listen } from '../platform/http/http-server.js';
import { readServerCertificate } from '../platform/http/read-tls-files.js';
import type { HttpConfig } from './config/http-config.js';

/**
 * Opens the listener for clients with certificates, if configured.
 * @param expires is called with the time at which the certificate expires, in milliseconds
 * @throws {Error} naming the variable to correct
 */
export async function listenTls(
  handler: RequestListener,
  { tls, host, connections }: HttpConfig,
  expires: (atMs: number) => void,
): Promise<HttpServer | undefined> {
  if (!tls) return undefined;
  const { certificateFile, keyFile, port } = tls;
  const certificate = await readServerCertificate(
    { variable: 'TLS_CERTIFICATE_FILE', file: certificateFile },
    { variable: 'TLS_KEY_FILE', file: keyFile },
  );
  const listening = listen(handler, { host, port, connections }, certificate);
  const server = await explainedPort('TLS_PORT', `TLS_PORT ${port} cannot be used`, listening);
  expires(Date.parse(new X509Certificate(certificate.cert).validTo));
  return server;
}
