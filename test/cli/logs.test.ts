import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandLine } from '../support/command-line.js';

const LOG = { identity: 'logs/0192e8f5-1111-7000-8000-000000000001', kind: 'tenancy', leaves: 7, seal_number: 6 };
const RESTORED = {
  ...LOG,
  identity: 'logs/0192e8f5-1111-7000-8000-000000000002',
  halted: 'restored from the copy of 2026-11-28T12:38:11.271Z: what was published after it is not known',
  finding: 'consistent',
  database_seal: { number: 6, leaves: 7 },
  object_store_seal: { number: 6, leaves: 7 },
};
const CHAIN = { finding: 'consistent', database_block: { number: 2, hash: 'ab' } };

let folder: string;
let server: Server;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logs-'));
  await writeFile(join(folder, 'operator-token'), 'token');
  server = createServer((request, response) => {
    const logs = request.url?.includes('after=') ? [] : [{ ...LOG, halted: '' }, RESTORED];
    const one = request.url?.endsWith('/chain')
      ? CHAIN
      : request.url?.endsWith(RESTORED.identity)
        ? RESTORED
        : undefined;
    response.end(JSON.stringify(one ?? { logs }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});
afterAll(async () => {
  await new Promise((closed) => server.close(closed));
  await rm(folder, { recursive: true });
});

it('logs gives the number of the last seal as a number, which no reader takes for a count of leaves', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { out, exitCode } = await commandLine(['logs', '--url', url], { KEYS_DIR: folder, PORT: '1' });
  expect([out.split('\n')[0], exitCode]).toEqual([`${LOG.identity}  tenancy  7 leaves, seal no. 6  (running)`, 0]);
});

it('a log that a restore has halted is not to be resumed, which is refused: the copy is restored again', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { out } = await commandLine(['logs', '--url', url], { KEYS_DIR: folder, PORT: '1' });
  const advice = out.split('\n').find((line) => line.includes('what to do'));
  expect(advice).toContain('--nothing-published-since');
  expect(advice).not.toContain('logs resume');
});
