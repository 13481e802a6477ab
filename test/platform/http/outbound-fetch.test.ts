import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOutboundFetch, isPrivateHost, OutboundRefused } from '../../../src/platform/http/outbound-fetch.js';

const careful = createOutboundFetch({ allowPrivate: false });
const local = createOutboundFetch({ allowPrivate: true });

let server: Server;
let url: string;
let asked = 0;
beforeAll(async () => {
  server = createServer((request, response) => {
    asked += 1;
    const [, status] = /^\/status\/(\d+)$/.exec(request.url ?? '') ?? [];
    if (status) request.socket.end(`HTTP/1.1 ${status} Whatever\r\ncontent-length: 0\r\n\r\n`);
    else if (request.url === '/elsewhere') response.writeHead(302, { location: `${url}/json` }).end();
    else if (request.url === '/endless') {
      const timer = setInterval(() => response.write('x'.repeat(64 * 1024)), 1);
      response.once('close', () => clearInterval(timer));
    } else response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('a fetch from an address that somebody typed', () => {
  it.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://0.0.0.0/',
    'https://10.0.0.1/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://224.0.0.1/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[::7f00:1]/',
    'https://[100:0:0:1::1]/',
    'https://[4000::1]/',
    'https://[8000::1]/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://localhost/',
    'https://archivist.localhost/',
  ])('never reaches %s', async (address) => {
    expect(isPrivateHost(new URL(address).hostname)).toBe(true);
    await expect(careful(address)).rejects.toThrow(OutboundRefused);
  });

  it('speaks https alone', async () => {
    for (const address of ['http://192.0.43.8/', 'ftp://192.0.43.8/', 'file:///etc/passwd'])
      await expect(careful(address)).rejects.toThrow('only https');
    await expect(local('file:///etc/passwd')).rejects.toThrow('only https');
  });

  it('makes no connection to a private address', async () => {
    const before = asked;
    await expect(careful(url.replace('http:', 'https:'))).rejects.toThrow('private network');
    expect(asked).toBe(before);
  });

  it.each([204, 205, 226, 404, 599])('gives the status %s as it was answered', async (status) => {
    const answer = await local(`${url}/status/${status}`);
    expect([answer.status, await answer.text()]).toEqual([status, '']);
  });

  it.each([0, 199, 600, 999])('refuses the status %s, which HTTP does not have', async (status) => {
    const refused = await local(`${url}/status/${String(status).padStart(3, '0')}`).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(OutboundRefused);
  });

  it('may reach the premises where the operator allows it', async () => {
    const answer = await local(`${url}/json`);
    expect([answer.status, await answer.json()]).toEqual([200, { a: 1 }]);
  });

  it('follows no redirect and reads no endless answer', async () => {
    await expect(local(`${url}/elsewhere`)).rejects.toThrow('redirects are not followed');
    await expect(local(`${url}/endless`)).rejects.toThrow('too long');
  });
});

describe('a host', () => {
  it('of a public network is not private', () => {
    for (const host of ['example.com', '93.184.216.34', '[2606:2800:220:1::1]', 'localhost.example'])
      expect([host, isPrivateHost(host)]).toEqual([host, false]);
  });
});
