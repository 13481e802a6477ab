import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startReceiver } from '../../../plugins/receiver/receiver.js';
import { followCertificate } from '../../../src/platform/http/follow-certificate.js';
import { listen } from '../../../src/platform/http/http-server.js';
import { readServerCertificate, type ServerCertificate } from '../../../src/platform/http/read-tls-files.js';
import { createLogger } from '../../../src/platform/logger.js';
import { makeCertificate } from '../../api/test-certificates.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'renewed-'));
});
afterAll(() => rm(folder, { recursive: true }));

const certificateFile = () => join(folder, 'cert.pem');
const keyFile = () => join(folder, 'key.pem');
const read = () =>
  readServerCertificate(
    { variable: 'TLS_CERTIFICATE_FILE', file: certificateFile() },
    { variable: 'TLS_KEY_FILE', file: keyFile() },
  );

/** The subject of the certificate that a new connection gets. */
async function shownAt(port: number): Promise<string> {
  const client = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  await once(client, 'secureConnect');
  const { subject } = new X509Certificate(client.getPeerX509Certificate()!.raw);
  client.destroy();
  return subject;
}

const logger = createLogger('silent');
const LISTENERS = {
  'the service': async (first: ServerCertificate) => {
    const server = await listen((_, response) => response.end(), { host: '127.0.0.1', port: 0 }, first);
    return { ...server, url: server.url };
  },
  'the plugin': (first: ServerCertificate) =>
    startReceiver({
      ...{ host: '127.0.0.1', port: 0, tls: first, registry: undefined, logger },
      capture: () => Promise.reject(new Error('nothing is captured here')),
      ping: async () => undefined,
      counted: () => undefined,
    }),
};

it.each(Object.entries(LISTENERS))(
  'a renewed certificate is used without a restart, once its key is there too: %s',
  async (_name, start) => {
    const [earlier, later] = [
      await makeCertificate({ name: 'CN=earlier' }),
      await makeCertificate({ name: 'CN=later' }),
    ];
    await writeFile(certificateFile(), earlier.pem);
    await writeFile(keyFile(), earlier.keyPem);
    const first = await read();
    const server = await start(first);
    const port = Number(new URL(server.url).port);
    const refused = vi.spyOn(logger, 'warn');
    const following = followCertificate({ first, read, use: server.renew, logger, everyMs: 5 });

    await writeFile(certificateFile(), later.pem.slice(0, 100));
    await vi.waitFor(() => expect(refused).toHaveBeenCalled());
    await writeFile(certificateFile(), later.pem);
    refused.mockClear();
    await vi.waitFor(() => expect(refused).toHaveBeenCalled());
    expect(await shownAt(port)).toBe('CN=earlier');

    await writeFile(keyFile(), later.keyPem);
    await vi.waitFor(async () => expect(await shownAt(port)).toBe('CN=later'));
    await following.close();
    await server.close();
  },
);
