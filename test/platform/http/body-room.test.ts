import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import express from 'express';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createBodyRoom } from '../../../src/platform/http/body-room.js';
import { type HttpServer, listen } from '../../../src/platform/http/http-server.js';
import { mountRoutes } from '../../../src/platform/http/mount-routes.js';
import { route } from '../../../src/platform/http/route.js';

const MIB = 1024 * 1024;
const LIMIT = 8 * MIB;
/** Long bodies that one caller can send at the same time. */
const OWN = 2;

let server: HttpServer;
/** The callers of the requests that have arrived. */
const arrived: string[] = [];
beforeAll(async () => {
  const app = express();
  const take = route({
    method: 'POST',
    path: '/take',
    operationId: 'Take',
    summary: 'Take a body',
    access: 'token',
    success: 200,
    codes: [503],
    bodyLimit: LIMIT,
    rawBody: true,
    response: z.object({ length: z.number() }),
    handle: async ({ rawBody }) => ({ body: { length: rawBody.length } }),
  });
  mountRoutes(app, [take], {
    authenticate: async ({ headers, socket }) => {
      const caller = String(headers['authorization']);
      arrived.push(caller);
      if (headers['x-leaves']) await once(socket, 'close');
      return { kind: 'application', tenantId: caller, issuer: 'i', subject: caller, roles: [] } as never;
    },
    authenticateOperator: () => undefined,
    requireRightTime: () => undefined,
    requireRoom: () => undefined,
    corsOrigins: [],
    logger: pino({ level: 'silent' }),
    answered: () => undefined,
    seconds: () => performance.now() / 1000,
  });
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});
afterAll(() => server?.close());

/** Sends all of a body but its end. */
function unfinished(caller: string, length: number | 'chunked'): Socket {
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined);
  const framing = length === 'chunked' ? 'transfer-encoding: chunked' : `content-length: ${length}`;
  socket.write(`POST /take HTTP/1.1\r\nhost: a\r\nauthorization: ${caller}\r\n${framing}\r\n\r\n`);
  const sent = Buffer.alloc((length === 'chunked' ? LIMIT : length) - 1, 'a');
  if (length === 'chunked') socket.write(`${sent.length.toString(16)}\r\n`);
  socket.write(sent);
  return socket;
}

const post = (caller: string, length: number) =>
  fetch(`${server.url}/take`, { method: 'POST', headers: { authorization: caller }, body: new Uint8Array(length) });

async function state(answer: Promise<Response>): Promise<number | 'waits'> {
  const later = new Promise<'waits'>((resolve) => setTimeout(resolve, 300, 'waits'));
  return Promise.race([answer.then(({ status }) => status), later]);
}

describe('long bodies', () => {
  it.each([LIMIT, 'chunked'] as const)(
    'of one caller take turns, and nobody else waits for them: %s',
    async (length) => {
      const caller = `slow ${length}`;
      const senders = Array.from({ length: OWN }, () => unfinished(caller, length));
      try {
        await expect.poll(() => arrived.filter((each) => each === caller).length, { timeout: 30_000 }).toBe(OWN);
        const waiting = post(caller, LIMIT);
        expect((await post(caller, 64 * 1024)).status).toBe(200);
        expect((await post('other', LIMIT)).status).toBe(200);
        expect(await state(waiting)).toBe('waits');
        for (const sender of senders) sender.destroy();
        expect((await waiting).status).toBe(200);
      } finally {
        for (const sender of senders) sender.destroy();
      }
    },
    60_000,
  );

  it('of clients that disconnect before they are read leave no room taken', async () => {
    const caller = 'hasty';
    for (let each = 1; each <= 2 * OWN; each += 1) {
      const socket = connect(server.port, '127.0.0.1');
      socket.write(`POST /take HTTP/1.1\r\nhost: a\r\nauthorization: ${caller}\r\nx-leaves: yes\r\n`);
      socket.write(`content-length: ${LIMIT}\r\n\r\n{`);
      await expect.poll(() => arrived.filter((other) => other === caller).length).toBe(each);
      socket.destroy();
    }
    expect((await post(caller, LIMIT)).status).toBe(200);
  });

  it('that find no room in time are refused as unavailable, with the time of another try', async () => {
    const room = createBodyRoom(1);
    const holder = { caller: 'a', tenancy: 't' };
    for (let each = 0; each < OWN; each += 1) await room.hold(holder, undefined, LIMIT);
    await expect(room.hold(holder, undefined, LIMIT)).rejects.toMatchObject({
      status: 503,
      headers: { 'retry-after': '2' },
    });
  });

  it('that wait come in one after the other, not all when one has ended', async () => {
    const room = createBodyRoom();
    const holder = { caller: 'a', tenancy: 't' };
    const never = new AbortController().signal;
    const [first] = await Promise.all(Array.from({ length: OWN }, () => room.hold(holder, never, LIMIT)));
    let admitted = 0;
    for (let each = 0; each < 10; each += 1)
      room.hold(holder, never, LIMIT).then(
        () => {
          admitted += 1;
        },
        () => undefined,
      );
    first!.release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(admitted).toBe(1);
  });
});
