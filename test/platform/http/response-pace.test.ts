import { connect } from 'node:net';
import { Readable } from 'node:stream';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpServer, listen } from '../../../src/platform/http/http-server.js';

/** Far below what a client reads that does nothing else, also on a busy machine. */
const PACE = { periodMs: 1_000, bytes: 64 * 1024 };
const MEGABYTE = Buffer.alloc(1024 * 1024, 'x');

let server: HttpServer;
const cut = new Set<string>();
beforeAll(async () => {
  const app = express();
  app.get('/large', (request, response) => {
    response.once('close', () => response.writableFinished || cut.add(String(request.query['name'])));
    Readable.from(Array.from({ length: 64 }, () => MEGABYTE)).pipe(response);
  });
  app.get('/quiet', (_request, response) => void response.write('begun'));
  server = await listen(app, { host: '127.0.0.1', port: 0, pace: PACE });
});
afterAll(() => server?.close());

const request = (path: string) => {
  const socket = connect(server.port, '127.0.0.1');
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
  return { socket, closed };
};

describe('a client of a large response', () => {
  it('is disconnected if it reads a byte now and then', async () => {
    const { socket, closed } = request('/large?name=slow');
    socket.pause();
    const sipping = setInterval(() => socket.read(1), 50);
    await expect.poll(() => cut.has('slow'), { timeout: 30_000 }).toBe(true);
    clearInterval(sipping);
    socket.resume();
    await closed;
  });

  it('has all of it if it reads as it should', async () => {
    // What an earlier attempt of this test has left.
    cut.delete('brisk');
    const response = await fetch(`${server.url}/large?name=brisk`);
    expect((await response.arrayBuffer()).byteLength).toBe(64 * MEGABYTE.length);
    expect(cut.has('brisk')).toBe(false);
  });

  it('may wait for a stream that has nothing to say', async () => {
    const { socket, closed } = request('/quiet');
    const ended = closed.then(() => 'closed');
    const waited = new Promise((resolve) => setTimeout(resolve, 5 * PACE.periodMs, 'open'));
    expect(await Promise.race([ended, waited])).toBe('open');
    socket.destroy();
    await closed;
  });
});
