import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandLine } from '../support/command-line.js';

const LOG = { identity: 'logs/0192e8f5-1111-7000-8000-000000000001', kind: 'tenancy', leaves: 7, seal_number: 6 };
const CHAIN = { finding: 'consistent', database_block: { number: 2, hash: 'ab' } };

let folder: string;
let server: Server;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logs-'));
  await writeFile(join(folder, 'operator-token'), 'token');
  server = createServer((request, response) => {
    const logs = request.url?.includes('after=') ? [] : [{ ...LOG, halted: '' }];
    response.end(JSON.stringify(request.url?.endsWith('/chain') ? CHAIN : { logs }));
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
