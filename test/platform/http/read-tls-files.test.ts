import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readServerCertificate } from '../../../src/platform/http/read-tls-files.js';
import { makeCertificate } from '../../api/test-certificates.js';

let folder: string;
const inFolder = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tls-files-'));
  const [own, other] = [await makeCertificate({ name: 'CN=own' }), await makeCertificate({ name: 'CN=other' })];
  await writeFile(inFolder('own.pem'), own.pem);
  await writeFile(inFolder('own.key'), own.keyPem);
  await writeFile(inFolder('other.key'), other.keyPem);
  await writeFile(inFolder('empty'), '');
});
afterAll(() => rm(folder, { recursive: true }));

const read = (certificate: string, key: string) =>
  readServerCertificate(
    { variable: 'TLS_CERTIFICATE_FILE', file: inFolder(certificate) },
    { variable: 'TLS_KEY_FILE', file: inFolder(key) },
  );

it('a certificate and its key are read', async () => {
  const { cert, key } = await read('own.pem', 'own.key');
  expect([String(cert), String(key)]).toEqual([
    expect.stringContaining('BEGIN CERTIFICATE'),
    expect.stringContaining('BEGIN PRIVATE KEY'),
  ]);
});

it.each([
  ['absent', 'own.key', /^TLS_CERTIFICATE_FILE \S+\/absent cannot be read: /],
  ['empty', 'own.key', /^TLS_CERTIFICATE_FILE \S+\/empty must have a certificate in PEM: /],
  ['own.key', 'own.pem', /^TLS_CERTIFICATE_FILE \S+\/own\.key must have a certificate in PEM: /],
  ['own.pem', 'empty', /^TLS_KEY_FILE \S+\/empty must have a private key in PEM, without a passphrase: /],
  ['own.pem', 'own.pem', /^TLS_KEY_FILE \S+\/own\.pem must have a private key in PEM, without a passphrase: /],
  [
    'own.pem',
    'other.key',
    /^TLS_KEY_FILE \S+\/other\.key must have the key of the first .* in TLS_CERTIFICATE_FILE \S+\/own\.pem: /,
  ],
])('with %s and %s, the refusal names the variable to correct', async (certificate, key, says) => {
  await expect(read(certificate, key)).rejects.toThrow(says);
});
