import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fetchDirect } from '../../../src/platform/http/fetch-direct.js';
import { collectGarbage } from '../../support/collect-garbage.js';

/** A server that answers so, and its address. */
async function serving(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => request.resume().once('end', () => answer(response)));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Collects all memory that is not used, every few milliseconds, until the test has finished. */
function collectMemory(): void {
  const timer = setInterval(collectGarbage, 20);
  onTestFinished(() => clearInterval(timer));
}

describe('a direct fetch', () => {
  it('ends within its time while the body is read, also when memory is collected meanwhile', async () => {
    const url = await serving((response) => response.writeHead(200).write('the beginning'));
    collectMemory();
    const read = async (): Promise<string> => (await fetchDirect(url, { method: 'POST', body: 'asked' }, 500)).text();
    await Promise.all(Array.from({ length: 10 }, () => expect(read()).rejects.toThrow(/timeout/)));
  }, 10_000);

  it.each([301, 302, 303, 307, 308])('is refused by a redirect (%s), and asks nowhere else', async (status) => {
    let asked = 0;
    const url = await serving((response) => {
      asked += 1;
      response.writeHead(status, { location: '/elsewhere' }).end('moved');
    });
    await expect(fetchDirect(url, {}, 5_000)).rejects.toThrow(TypeError);
    expect(asked).toBe(1);
  });

  it.each([200, 304, 404, 500])('returns every other answer (%s)', async (status) => {
    const url = await serving((response) => response.writeHead(status).end());
    expect((await fetchDirect(url, {}, 5_000)).status).toBe(status);
  });
});
