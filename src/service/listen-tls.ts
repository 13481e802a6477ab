import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { explained, explainedPort } from '../platform/explain-failure.js';
import { type HttpServer, listen } from '../platform/http/http-server.js';
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
  const cert = await explained(`TLS_CERTIFICATE_FILE ${certificateFile} cannot be read`, readFile(certificateFile));
  const key = await explained(`TLS_KEY_FILE ${keyFile} cannot be read`, readFile(keyFile));
  const listening = listen(handler, { host, port, connections }, { cert, key });
  const server = await explainedPort('TLS_PORT', `TLS_PORT ${port} cannot be used`, listening);
  expires(Date.parse(new X509Certificate(cert).validTo));
  return server;
}
