import { connect, type Socket } from 'node:net';
import express from 'express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type HttpServer, listen } from '../../../src/platform/http/http-server.js';
import { sendReply } from '../../../src/platform/http/send-reply.js';

const PAGE = new Uint8Array(4 * 1024 * 1024).fill(0x61);
const READERS = 40;

let server: HttpServer;
let begun = 0;
beforeAll(async () => {
  const app = express();
  app.get('/page', async (_request, response) => {
    await sendReply(response, { bytes: PAGE, contentType: 'text/html' }, 200, () => {
      begun += 1;
    });
  });
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});
afterAll(() => server?.close());

it('a page that many slow readers are sent is in memory once', async () => {
  const before = process.memoryUsage().arrayBuffers;
  const readers = Array.from({ length: READERS }, slowReader);
  await expect.poll(() => begun).toBe(READERS);
  const more = process.memoryUsage().arrayBuffers - before;
  for (const reader of readers) reader.destroy();
  expect(more).toBeLessThan((READERS * PAGE.length) / 4);
});

it('all of a long page arrives', async () => {
  const answer = await fetch(`${server.url}/page`);
  expect(Buffer.from(await answer.arrayBuffer()).equals(PAGE)).toBe(true);
});

function slowReader(): Socket {
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined).pause();
  socket.write('GET /page HTTP/1.1\r\nhost: a\r\n\r\n');
  return socket;
}
