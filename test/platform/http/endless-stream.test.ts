import { connect } from 'node:net';
import { Readable } from 'node:stream';
import express from 'express';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type HttpServer, listen } from '../../../src/platform/http/http-server.js';
import { mountRoutes } from '../../../src/platform/http/mount-routes.js';
import { route } from '../../../src/platform/http/route.js';

const CHUNK = 'x'.repeat(16 * 1024);
/** Far more than the buffers of two sockets take. */
const MUCH = 64 * 1024 * 1024;

let server: HttpServer;
let made = 0;
let content: Readable;
let answered = 0;
beforeAll(async () => {
  const app = express();
  const endless = route({
    method: 'GET',
    path: '/endless',
    operationId: 'Endless',
    summary: '',
    access: 'public',
    success: 200,
    codes: [],
    handle: async () => {
      content = Readable.from(
        (async function* () {
          for (;;) {
            made += CHUNK.length;
            yield CHUNK;
          }
        })(),
      );
      return { stream: { content, stalledMs: 500 } };
    },
  });
  mountRoutes(app, [endless], {
    authenticate: async () => Promise.reject(new Error('nobody')),
    authenticateOperator: () => undefined,
    requireRightTime: () => undefined,
    requireRoom: () => undefined,
    corsOrigins: [],
    logger: pino({ level: 'silent' }),
    answered: () => {
      answered += 1;
    },
    seconds: () => 0,
  });
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});
afterAll(() => server?.close());

it('disconnects a client that does not read, has made little ahead of it, and counts it as answered at its begin', async () => {
  const socket = connect({ host: '127.0.0.1', port: server.port });
  socket.pause();
  socket.on('error', () => undefined);
  socket.write('GET /endless HTTP/1.1\r\nhost: x\r\n\r\n');
  await expect.poll(() => made, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(answered).toBe(1);
  await expect.poll(() => content.destroyed, { timeout: 30_000 }).toBe(true);
  expect(made).toBeLessThan(MUCH);
  expect(answered).toBe(1);
  socket.destroy();
}, 60_000);

it('warns of nothing while a client reads it', async () => {
  const warnings: string[] = [];
  const warned = ({ message }: Error) => void warnings.push(message);
  process.on('warning', warned);
  const answer = await fetch(`http://127.0.0.1:${server.port}/endless`);
  const reader = answer.body!.getReader();
  await reader.read();
  await reader.cancel();
  await expect.poll(() => content.destroyed).toBe(true);
  process.off('warning', warned);
  expect(warnings).toEqual([]);
});
