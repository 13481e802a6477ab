import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { closedLoop, getRequest } from './closed-loop.js';

it('fails with words when a request gets no answer', async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const loop = closedLoop(url, { connections: 2, seconds: 60, answerWithinMs: 200 }, () => getRequest('/'));
  await expect(loop).rejects.toThrow('did not answer a request within 0.2 s');
  server.closeAllConnections();
  server.close();
});
