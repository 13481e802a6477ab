import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { encodeVkey, NoteKeyType } from '../../src/core/tlog/signed-note.js';
import { commandLine } from '../support/command-line.js';
import { publishedService } from './published-service.js';

const vkey = encodeVkey({ name: 'log/1', type: NoteKeyType.ed25519, publicKey: new Uint8Array(32).fill(1) });
const folder = mkdtempSync(join(tmpdir(), 'monitor-options-'));
let service: Awaited<ReturnType<typeof publishedService>>;

beforeAll(async () => {
  service = await publishedService(() => undefined);
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const monitor = (url: string, ...args: string[]) =>
  commandLine(['monitor', url, '--once', '--state', join(folder, 'state'), ...args]);

it.each([
  ['nothing to trust', [], 'give --root to follow all logs'],
  ['a malformed verifier key', ['--vkey', 'log/1+00000000+AAAA'], 'is neither a verifier key nor a file'],
  [
    'a file of --vkey without a key',
    ['--vkey', import.meta.filename],
    `--vkey: no verifier key in ${import.meta.filename}`,
  ],
  [
    'a --state that is a file',
    ['--state', import.meta.filename, '--vkey', vkey],
    '--state: a file of that name exists',
  ],
  ['seconds that are none', ['--seconds', '0', '--vkey', vkey], '--seconds must be a number of seconds'],
  ['hours of silence that are none', ['--silence', '1.5', '--vkey', vkey], '--silence must be a number of hours'],
  ['a file of --log-keys without keys', ['--log-keys', import.meta.filename], `no keys in ${import.meta.filename}`],
  ['a malformed key of a witness', ['--witness', 'w1', '--vkey', vkey], '--witness: a verifier key is not name+hash'],
])('monitor exits 2 and names the option at %s', async (_, args, says) => {
  const { err, exitCode } = await monitor(service.url, ...args);
  expect([exitCode, err]).toEqual([2, expect.stringContaining(says)]);
});

it('monitor exits 2 at an address that is no web address, or of a server that publishes no logs', async () => {
  const without = await monitor(service.url.replace('http://', ''), '--vkey', vkey);
  expect([without.exitCode, without.err]).toEqual([2, expect.stringContaining('must begin with http:// or https://')]);
  const other = createServer((_, response) => response.writeHead(404).end());
  await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
  const { err, exitCode } = await monitor(`http://127.0.0.1:${(other.address() as AddressInfo).port}`, '--vkey', vkey);
  await new Promise((closed) => other.close(closed));
  expect([exitCode, err]).toEqual([2, expect.stringContaining('publishes no logs: give the base URL of the service')]);
});

it('monitor says which checkpoint is missing of a log that it never saw, and raises no alarm', async () => {
  const { err, exitCode } = await monitor(service.url, '--vkey', vkey);
  expect([exitCode, err]).toEqual([
    2,
    expect.stringMatching(/ log\/1: \S+\/verifiabledata\/tlog\/1\/checkpoint is missing$/m),
  ]);
});
