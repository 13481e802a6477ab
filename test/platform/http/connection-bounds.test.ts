import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { boundConnections } from '../../../src/platform/http/connection-bounds.js';

const LIMITS = { total: 8, perAddress: 4 };
const REQUEST = 'GET / HTTP/1.1\r\nhost: here\r\n\r\n';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function boundServer(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((request, response) => {
    if (request.url !== '/slow') response.end('answer');
  });
  boundConnections(server, LIMITS);
  server.listen(0, '127.0.0.1');
  closers.push(() => server.close().closeAllConnections());
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

async function open(port: number, request?: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  closers.push(() => socket.destroy());
  await once(socket, 'connect');
  if (request) socket.write(request);
  return socket;
}

async function answer(socket: Socket): Promise<string> {
  socket.write(REQUEST);
  const [bytes] = await once(socket, 'data');
  return String(bytes).split('\r\n')[0]!;
}

/** Connects from another process while this one accepts nothing, and resets each connection at once. */
function resetBeforeAccepted(port: number, count: number): void {
  const script = `
    const { connect } = require('node:net');
    for (let n = 0; n < ${count}; n += 1) {
      const socket = connect(${port}, '127.0.0.1', () => socket.resetAndDestroy());
    }`;
  const { status } = spawnSync(process.execPath, ['-e', script]);
  expect(status).toBe(0);
}

test('connections that were reset before they were accepted take no room and end nothing', async () => {
  const { server, port } = await boundServer();
  let withoutAddress = 0;
  server.on('connection', ({ remoteAddress }) => {
    if (remoteAddress === undefined) withoutAddress += 1;
  });

  resetBeforeAccepted(port, 5 * LIMITS.total);
  for (let n = 0; n < LIMITS.perAddress; n += 1)
    expect(await answer(await open(port)), `connection ${n}`).toBe('HTTP/1.1 200 OK');

  expect(withoutAddress).toBeGreaterThan(LIMITS.perAddress);
});

test('a connection above the limit of its address closes the one that has been idle for longest', async () => {
  const { port } = await boundServer();
  const [first, second, third] = [await open(port), await open(port), await open(port)];
  await answer(first);
  await open(port);

  const [above] = await Promise.all([open(port), once(second, 'close')]);

  for (const each of [first, third, above]) expect(await answer(each)).toBe('HTTP/1.1 200 OK');
});

test('if every connection of an address is in use, a new one is closed', async () => {
  const { server, port } = await boundServer();
  const slow = REQUEST.replace('/', '/slow');
  for (let n = 0; n < LIMITS.perAddress; n += 1) await Promise.all([once(server, 'request'), open(port, slow)]);

  await once(await open(port, REQUEST), 'close');

  expect(await connections(server)).toBe(LIMITS.perAddress);
});

function connections(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}
