import { readAuthorities, readServerCertificate } from '../../src/platform/http/read-tls-files.js';
import type { ReceiverTls } from '../receiver/receiver.js';
import type { PluginSettings } from '../settings/plugin-settings.js';

/**
 * Reads the receiver's certificate and key; undefined when it listens without TLS.
 * @throws {Error} naming the variable to correct
 */
export async function readReceiverTls(tls: PluginSettings['tls']): Promise<ReceiverTls | undefined> {
  if (!tls) return undefined;
  const { certFile, keyFile, clientCaFile } = tls;
  const certificate = await readServerCertificate(
    { variable: 'PLUGIN_TLS_CERT', file: certFile },
    { variable: 'PLUGIN_TLS_KEY', file: keyFile },
  );
  if (clientCaFile === undefined) return certificate;
  return { ...certificate, ca: await readAuthorities({ variable: 'PLUGIN_TLS_CLIENT_CA', file: clientCaFile }) };
}
