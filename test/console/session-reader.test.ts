import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readBytes, readJson, sendJson, Unanswered } from '../../src/console/session-reader.js';

const ANSWERS: Readonly<Record<string, RequestListener>> = {
  '/broken': (_, answer) => {
    answer.writeHead(200, { 'content-length': '100' }).write('{"a":');
    setTimeout(() => answer.destroy(), 20);
  },
  '/proxy': (_, answer) => void answer.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>'),
  '/refused': (_, answer) => void answer.writeHead(409).end('{"error":"conflict","description":"It is so."}'),
  '/whole': (_, answer) => void answer.end('{"a":1}'),
};

let server: Server;
beforeAll(async () => {
  server = createServer((request, answer) => ANSWERS[request.url!]!(request, answer));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { fetch } = globalThis;
  // A page asks by relative paths, and Node.js has no page.
  const page = `http://127.0.0.1:${(server.address() as AddressInfo).port}/console`;
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => fetch(new URL(path, page), init));
});
afterAll(() => {
  vi.unstubAllGlobals();
  server.close();
});

const AWAY = expect.objectContaining({ reason: 'away' });

it('an answer that breaks off, or is no JSON, is no answer: the view can show it', async () => {
  for (const path of ['/broken', '/proxy']) {
    await expect(readJson(path)).rejects.toThrow(Unanswered);
    await expect(readJson(path)).rejects.toEqual(AWAY);
    await expect(sendJson('POST', path, {})).rejects.toEqual(AWAY);
  }
  await expect(readBytes('/broken')).rejects.toEqual(AWAY);
});

it('a refusal keeps the words of the service, and a whole answer is read', async () => {
  await expect(readJson('/refused')).rejects.toMatchObject({ reason: 'refused', message: 'It is so.' });
  expect(await readJson('/whole')).toEqual({ a: 1 });
  expect(await readBytes('/whole')).toHaveLength(7);
});

it('a request that the page stops is no failure of the service', async () => {
  await expect(readJson('/whole', AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
});
