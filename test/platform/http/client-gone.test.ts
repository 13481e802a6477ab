import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientGone } from '../../../src/platform/http/client-gone.js';

const requests: IncomingMessage[] = [];
const server = createServer((request, response) => {
  requests.push(request);
  clientGone(request);
  response.end();
});
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

async function ask(): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const [answer] = (await once(get({ port, host: '127.0.0.1', agent }), 'response')) as [IncomingMessage];
  await once(answer.resume(), 'end');
}

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  for (let count = 0; count < 20; count++) await ask();
});
afterAll(() => {
  agent.destroy();
  server.close();
});

describe('the signal that a client has disconnected', () => {
  it('costs a connection one listener, however many requests it carries', () => {
    const sockets = new Set(requests.map(({ socket }) => socket));
    expect(sockets.size).toBe(1);
    const [socket] = sockets;
    const before = socket!.listenerCount('close');
    clientGone(requests.at(-1)!);
    expect(socket!.listenerCount('close')).toBe(before);
    expect(before).toBeLessThan(requests.length);
  });

  it('is aborted when the connection closes, also for a later reader', async () => {
    const last = requests.at(-1)!;
    const gone = clientGone(last);
    expect(gone.aborted).toBe(false);
    const closed = once(last.socket, 'close');
    agent.destroy();
    await closed;
    expect(gone.aborted).toBe(true);
    expect(clientGone(last).aborted).toBe(true);
  });
});
