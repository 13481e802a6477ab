import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { expect, it } from 'vitest';
import { certificateFault, explained, failureReason } from '../../src/platform/explain-failure.js';
import { createLogger } from '../../src/platform/logger.js';
import { makeCertificate, type Wanted } from '../api/test-certificates.js';

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const MINUTE = 60_000;

/** How a client fails that trusts one authority. */
async function refusalOf(wanted: Partial<Wanted>, { trusted = true } = {}): Promise<Error> {
  const authority = await makeCertificate({ name: 'CN=An authority', ca: true });
  const usages = [SERVER_AUTH];
  const { pem, keyPem } = await makeCertificate({ name: 'CN=localhost', issuer: authority, usages, ...wanted });
  const server = createServer({ cert: pem, key: keyPem }).listen(0, '127.0.0.1');
  server.on('tlsClientError', () => undefined);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const trust = trusted ? { ca: authority.pem } : {};
  const client = connect({ host: '127.0.0.1', servername: 'localhost', port, ...trust });
  const [error] = await once(client, 'error');
  server.close();
  return error as Error;
}

it('a refused certificate of a server is told with what to change', async () => {
  const past = new Date(Date.now() - MINUTE);
  const future = new Date(Date.now() + MINUTE);
  expect(failureReason(await refusalOf({ notAfter: past }))).toMatch(/has expired: renew it on the server \(CERT_HAS_/);
  expect(failureReason(await refusalOf({ notBefore: future }))).toMatch(/is not valid yet: compare the clocks/);
  expect(failureReason(await refusalOf({ name: 'CN=other' }))).toMatch(/is for other names: .*Host: localhost/);
  const fetchFailed = new TypeError('fetch failed', { cause: await refusalOf({}, { trusted: false }) });
  expect(certificateFault(fetchFailed)).toMatch(/NODE_EXTRA_CA_CERTS, or for PostgreSQL in sslrootcert/);
});

it('a host with several addresses is told by the first that failed, and a password that is not given by its place', () => {
  const refused = Object.assign(new Error(), { code: 'ECONNREFUSED', address: '::1', port: 5432 });
  expect(failureReason(new AggregateError([refused, new Error('another')]))).toBe(
    'nothing listens there (ECONNREFUSED, ::1:5432)',
  );
  const asked = new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string');
  expect(failureReason(asked)).toBe('the server asks for a password: put one into the URL, or into PGPASSWORD');
});

it('a refused certificate does not hide whose it is', async () => {
  const refused = explained('the database cannot be opened', Promise.reject(await refusalOf({ name: 'CN=other' })));
  const error = await refused.catch((thrown: unknown) => thrown);
  expect(failureReason(error)).toMatch(/^the database cannot be opened: the certificate of the server is for other/);
});

it('the log says of a refused certificate what to change, in a short line', async () => {
  const lines: string[] = [];
  const logger = createLogger('warn', { destination: { write: (line) => lines.push(line) } });
  logger.warn({ err: await refusalOf({ name: 'CN=other' }) }, 'no connection');
  expect(JSON.parse(lines[0]!)).toMatchObject({ err: { reason: expect.stringMatching(/is for other names/) } });
  expect(lines[0]!.length).toBeLessThan(3_000);
});
