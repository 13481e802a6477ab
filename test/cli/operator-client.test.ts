import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openOperatorClient } from '../../src/cli/operator-client.js';

it('a change that was not answered in time may still happen, and the message says so', async () => {
  const keys = await mkdtemp(join(tmpdir(), 'operator-client-'));
  await writeFile(join(keys, 'operator-token'), 'a token');
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  try {
    await new Promise((listening) => server.once('listening', listening));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = await openOperatorClient(url, keys);
    await expect(client.post('/keys:rotate', {}, 500)).rejects.toThrow(
      `${url} has not answered within 0.5 seconds: the service there is busy, or the address does not reach it. It may still do what was asked: look before you run the command again`,
    );
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(keys, { recursive: true });
  }
});
