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
const clock = { now: () => Date.now() };
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
    const following = followCertificate({ first, read, use: server.renew, clock, logger, everyMs: 5 });

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

it('an expired certificate is told once, at the start or when it expires, and again only if another one expires', async () => {
  const notAfter = new Date(1_900_000_000_000);
  const [good, other] = [
    await makeCertificate({ name: 'CN=first', notAfter }),
    await makeCertificate({ name: 'CN=second', notAfter }),
  ].map(({ pem, keyPem }) => ({ cert: Buffer.from(pem), key: Buffer.from(keyPem) })) as [
    ServerCertificate,
    ServerCertificate,
  ];
  const log = createLogger('silent');
  const told = vi.spyOn(log, 'warn');
  let nowMs = notAfter.getTime() - 1;
  let inFiles = good;
  let looks = 0;
  const looked = async () => {
    const before = looks;
    await vi.waitFor(() => expect(looks).toBeGreaterThan(before + 1));
  };
  const follow = () =>
    followCertificate({
      first: good,
      clock: { now: () => nowMs },
      logger: log,
      everyMs: 5,
      read: async () => {
        looks += 1;
        return inFiles;
      },
      use: () => undefined,
    });

  let following = follow();
  await looked();
  expect(told).not.toHaveBeenCalled();
  nowMs += 1;
  await looked();
  expect(told).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('has expired: replace its files'));
  inFiles = other;
  await looked();
  expect(told).toHaveBeenCalledTimes(2);
  await following.close();

  following = follow();
  expect(told).toHaveBeenCalledTimes(3);
  await following.close();
});
