import { readFile } from 'node:fs/promises';
import type { ReceiverTls } from '../receiver/receiver.js';
import type { PluginSettings } from '../settings/plugin-settings.js';

/**
 * Reads the receiver's certificate and key; undefined when it listens without TLS.
 * @throws when a file cannot be read
 */
export async function readReceiverTls(tls: PluginSettings['tls']): Promise<ReceiverTls | undefined> {
  if (!tls) return undefined;
  const [cert, key, ca] = await Promise.all([
    readFile(tls.certFile, 'utf8'),
    readFile(tls.keyFile, 'utf8'),
    tls.clientCaFile ? readFile(tls.clientCaFile, 'utf8') : undefined,
  ]);
  return { cert, key, ca };
}
