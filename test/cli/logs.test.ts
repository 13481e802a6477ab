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
/** A log that is behind the object store, where its last seal is this one. */
const BEHIND = {
  ...LOG,
  identity: 'logs/0192e8f5-1111-7000-8000-000000000003',
  name: 'tenant/3',
  halted: 'the object store has seal 7: the database is older than what was published',
  finding: 'database_older',
  database_seal: { log: 'tenant/3', number: 6, leaves: 7 },
};
let lastSeal = { log: 'tenant/3', number: 9, leaves: 12 };
const CHAIN = { finding: 'consistent', database_block: { number: 2, hash: 'ab' } };

let folder: string;
let server: Server;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logs-'));
  await writeFile(join(folder, 'operator-token'), 'token');
  server = createServer((request, response) => {
    const logs = request.url?.includes('after=') ? [] : [{ ...LOG, halted: '' }, RESTORED, BEHIND];
    const ones: Record<string, object> = {
      chain: CHAIN,
      [RESTORED.identity]: RESTORED,
      [BEHIND.identity]: { ...BEHIND, object_store_seal: lastSeal },
    };
    response.end(JSON.stringify(ones[request.url!.slice('/archivist/operator/v1/'.length)] ?? { logs }));
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

it.each([
  [{ log: 'tenant/3', number: 9, leaves: 12 }, 'tenant/3, seal 9, 12 leaves', '5 entries'],
  [{ log: 'tenant/3', number: 9, leaves: -1 }, 'tenant/3, seal 9, which cannot be read', 'unknown'],
  [{ log: 'tenant/3.1', number: 5, leaves: 5 }, 'tenant/3.1, seal 5, 5 leaves', 'the entries that only tenant/3.1 has'],
])('before a fork, what is lost is counted only where that can be known: %j', async (seal, shown, lost) => {
  lastSeal = seal;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fork = ['logs', 'fork', 'tenant/3', '--reason', 'the disk is lost', '--confirm', 'no', '--url', url];
  const { err, exitCode } = await commandLine(fork, { KEYS_DIR: folder, PORT: '1' });
  expect(err.split('\n').slice(-4)).toEqual([
    '  database      tenant/3, seal 6, 7 leaves',
    `  object store  ${shown}`,
    `  lost          ${lost}`,
    'error: not confirmed: "tenant/3" was expected. Nothing was changed',
  ]);
  expect(exitCode).toBe(2);
});
