import express from 'express';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listen } from '../../../src/platform/http/http-server.js';
import { mountRoutes } from '../../../src/platform/http/mount-routes.js';
import { createPageRoom, type PageHold } from '../../../src/platform/http/page-room.js';
import { route } from '../../../src/platform/http/route.js';
import { pageReply, pageSchema } from '../../../src/platform/listing/page-reply.js';

const MIB = 1024 * 1024;
/** Pages of one caller, and of all, before their sizes are known. */
const [OWN, ALL] = [8, 16];
const here = new AbortController().signal;

async function take(room: ReturnType<typeof createPageRoom>, caller: string, count: number): Promise<PageHold[]> {
  return Promise.all(Array.from({ length: count }, () => room.hold(caller, here)));
}

/** What becomes of a hold that may have to wait. */
function watched(hold: Promise<PageHold>): { state: 'waits' | 'held' | 'refused' } {
  const seen: { state: 'waits' | 'held' | 'refused' } = { state: 'waits' };
  hold.then(
    () => {
      seen.state = 'held';
    },
    () => {
      seen.state = 'refused';
    },
  );
  return seen;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the room for pages', () => {
  it('is half of it for one caller at most, and all of it for several', async () => {
    const room = createPageRoom();
    const [first] = await take(room, 'a', OWN);
    const own = watched(room.hold('a', here));
    await take(room, 'b', ALL - OWN);
    const other = watched(room.hold('c', here));
    await settled();
    expect([own.state, other.state]).toEqual(['waits', 'waits']);
    first!.release();
    await settled();
    expect([own.state, other.state]).toEqual(['held', 'waits']);
  });

  it('counts a page as its bytes once they are known', async () => {
    const room = createPageRoom();
    const holds = await take(room, 'a', OWN);
    for (const hold of holds) hold.resize(MIB);
    await take(room, 'a', OWN / 2);
    const next = watched(room.hold('a', here));
    holds[0]!.resize(3 * MIB);
    holds[1]!.release();
    await settled();
    expect(next.state).toBe('waits');
    holds[0]!.release();
    await settled();
    expect(next.state).toBe('held');
  });

  it('is refused with a time to retry if none comes free, and nothing stays counted for it', async () => {
    const room = createPageRoom(1);
    const holds = await take(room, 'a', OWN);
    await expect(room.hold('a', here)).rejects.toMatchObject({ code: 'unavailable', status: 503 });
    for (const hold of holds) hold.release();
    await take(room, 'a', OWN);
  });

  it('is not kept for a client that has gone', async () => {
    const room = createPageRoom();
    const [first] = await take(room, 'a', OWN);
    const leaving = new AbortController();
    const gone = watched(room.hold('a', leaving.signal));
    const staying = watched(room.hold('a', here));
    leaving.abort();
    await settled();
    expect([gone.state, staying.state]).toEqual(['refused', 'waits']);
    first!.release();
    await settled();
    expect(staying.state).toBe('held');
    await expect(room.hold('a', AbortSignal.abort())).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('the pipeline', () => {
  it('reads no more pages at once than there is room for, answers all of them, and counts nothing else', async () => {
    const REQUESTS = 40;
    let [reading, most, others] = [0, 0, 0];
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const shared = { method: 'GET', access: 'public', success: 200, codes: [], summary: 'x' } as const;
    const entries = Array.from({ length: 20 }, (_, number) => ({ number, text: 'x'.repeat(100_000) }));
    const list = route({
      ...shared,
      path: '/list',
      operationId: 'List',
      response: pageSchema('entries', z.unknown()),
      handle: async () => {
        reading += 1;
        most = Math.max(most, reading);
        await gate;
        reading -= 1;
        return pageReply('entries', { entries, nextPageToken: '', total: entries.length });
      },
    });
    const other = route({
      ...shared,
      path: '/other',
      operationId: 'Other',
      handle: async () => {
        others += 1;
        await gate;
        return { body: {} };
      },
    });
    const app = express();
    mountRoutes(app, [list, other], {
      authenticateOperator: () => undefined,
      authenticate: () => Promise.reject(new Error('not asked')),
      logger: pino({ level: 'silent' }),
      answered: () => undefined,
      corsOrigins: [],
      seconds: () => 0,
      requireRightTime: () => undefined,
      requireRoom: () => undefined,
    });
    const server = await listen(app, { host: '127.0.0.1', port: 0 });
    try {
      const get = async (path: string) => (await (await fetch(server.url + path)).arrayBuffer()).byteLength;
      const pages = Promise.all(Array.from({ length: REQUESTS }, () => get('/list')));
      const rest = Promise.all(Array.from({ length: REQUESTS }, () => get('/other')));
      await expect.poll(() => [reading, others], { timeout: 60_000 }).toEqual([OWN, REQUESTS]);
      release();
      expect(new Set(await pages).size).toBe(1);
      await rest;
      expect([reading, most]).toEqual([0, OWN]);
    } finally {
      release();
      await server.close();
    }
  }, 90_000);
});
