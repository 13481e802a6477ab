import express from 'express';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listen } from '../../../src/platform/http/http-server.js';
import { mountRoutes } from '../../../src/platform/http/mount-routes.js';
import { createPageRoom } from '../../../src/platform/http/page-room.js';
import { route } from '../../../src/platform/http/route.js';
import { pageReply, pageSchema } from '../../../src/platform/listing/page-reply.js';
import type { Hold } from '../../../src/platform/shared-room.js';

const MIB = 1024 * 1024;
/** Pages of one caller, of one tenancy, and of all, before their sizes are known. */
const [OWN, TENANCY, ALL] = [8, 12, 16];
const here = new AbortController().signal;

async function take(
  room: ReturnType<typeof createPageRoom>,
  caller: string,
  count: number,
  tenancy?: string,
): Promise<Hold[]> {
  return Promise.all(Array.from({ length: count }, () => room.hold({ caller, tenancy }, here)));
}

/** What becomes of a hold that may have to wait. */
function watched(hold: Promise<Hold>): { state: 'waits' | 'held' | 'refused' } {
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
  it('is not waited for by a client that has disconnected before its turn came', async () => {
    const room = createPageRoom();
    const [first] = await take(room, 'a', OWN, 't');
    const gone = watched(room.hold({ caller: 'a', tenancy: 't' }, AbortSignal.abort()));
    const waits = watched(room.hold({ caller: 'a', tenancy: 't' }, here));
    await settled();
    expect([gone.state, waits.state]).toEqual(['refused', 'waits']);
    first!.release();
    await settled();
    expect([gone.state, waits.state]).toEqual(['refused', 'held']);
  });

  it('is half of it for one caller at most, and all of it for several', async () => {
    const room = createPageRoom();
    const [first] = await take(room, 'a', OWN, 't');
    const own = watched(room.hold({ caller: 'a', tenancy: 't' }, here));
    await take(room, 'b', ALL - OWN, 'u');
    const other = watched(room.hold({ caller: 'c', tenancy: 'u' }, here));
    await settled();
    expect([own.state, other.state]).toEqual(['waits', 'waits']);
    first!.release();
    await settled();
    expect([own.state, other.state]).toEqual(['held', 'waits']);
  });

  it('is three quarters of it for one tenancy at most: none of its callers takes it all from the others', async () => {
    const room = createPageRoom();
    await take(room, 'a', OWN, 't');
    await take(room, 'b', TENANCY - OWN, 't');
    const another = watched(room.hold({ caller: 'b', tenancy: 't' }, here));
    const elsewhere = watched(room.hold({ caller: 'c', tenancy: 'u' }, here));
    await settled();
    expect([another.state, elsewhere.state]).toEqual(['waits', 'held']);
  });

  it('is three quarters of it for all callers without a token together', async () => {
    const room = createPageRoom();
    await take(room, 'address 1', OWN);
    await take(room, 'address 2', TENANCY - OWN);
    const another = watched(room.hold({ caller: 'address 3' }, here));
    const withToken = watched(room.hold({ caller: 'a', tenancy: 't' }, here));
    await settled();
    expect([another.state, withToken.state]).toEqual(['waits', 'held']);
  });

  it('is extended to its double for first pages of tenancies, so that a few tenancies keep no other one out', async () => {
    const room = createPageRoom();
    await take(room, 'address', OWN);
    await take(room, 'a', ALL - OWN, 't');
    for (let number = 0; number < ALL; number += 1) await take(room, `first ${number}`, 1, `tenancy ${number}`);
    const second = watched(room.hold({ caller: 'b', tenancy: 'tenancy 1' }, here));
    const beyond = watched(room.hold({ caller: 'c', tenancy: 'one more' }, here));
    await settled();
    expect([second.state, beyond.state]).toEqual(['waits', 'waits']);
  });

  it('counts a page as its bytes once they are known', async () => {
    const room = createPageRoom();
    const holds = await take(room, 'a', OWN);
    for (const hold of holds) hold.resize(MIB);
    await take(room, 'a', OWN / 2);
    const next = watched(room.hold({ caller: 'a' }, here));
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
    await expect(room.hold({ caller: 'a' }, here)).rejects.toMatchObject({ code: 'unavailable', status: 503 });
    for (const hold of holds) hold.release();
    await take(room, 'a', OWN);
  });

  it('is not kept for a client that has gone', async () => {
    const room = createPageRoom();
    const [first] = await take(room, 'a', OWN);
    const leaving = new AbortController();
    const gone = watched(room.hold({ caller: 'a' }, leaving.signal));
    const staying = watched(room.hold({ caller: 'a' }, here));
    leaving.abort();
    await settled();
    expect([gone.state, staying.state]).toEqual(['refused', 'waits']);
    first!.release();
    await settled();
    expect(staying.state).toBe('held');
    await expect(room.hold({ caller: 'a' }, AbortSignal.abort())).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe.each([
  ['public', OWN],
  ['token', TENANCY],
] as const)('the pipeline, for routes that are %s,', (access, room) => {
  it('reads no more pages and large responses for one address or tenancy at once than there is room for, and counts nothing else', async () => {
    const REQUESTS = 40;
    let subjects = 0;
    let [reading, most, others] = [0, 0, 0];
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const shared = { method: 'GET', access, success: 200, codes: [], summary: 'x' } as const;
    const entries = Array.from({ length: 20 }, (_, number) => ({ number, text: 'x'.repeat(100_000) }));
    const handle = async () => {
      reading += 1;
      most = Math.max(most, reading);
      await gate;
      reading -= 1;
      return pageReply('entries', { entries, nextPageToken: '', total: entries.length });
    };
    const response = pageSchema('entries', z.unknown());
    const list = route({ ...shared, path: '/list', operationId: 'List', response, handle });
    const large = route({ ...shared, path: '/large', operationId: 'Large', large: true, handle });
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
    mountRoutes(app, [list, large, other], {
      authenticateOperator: () => undefined,
      // Each request is of another identity of one tenancy.
      authenticate: async () => {
        subjects += 1;
        const shown = { displayName: '', email: '', roles: [], claims: {} };
        return { tenantId: 't', issuer: 'i', subject: `s${subjects}`, ...shown };
      },
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
      const pages = Promise.all(
        Array.from({ length: REQUESTS }, (_, number) => get(number % 2 === 0 ? '/list' : '/large')),
      );
      const rest = Promise.all(Array.from({ length: REQUESTS }, () => get('/other')));
      await expect.poll(() => [reading, others], { timeout: 60_000 }).toEqual([room, REQUESTS]);
      release();
      expect(new Set(await pages).size).toBe(1);
      await rest;
      expect([reading, most]).toEqual([0, room]);
    } finally {
      release();
      await server.close();
    }
  }, 90_000);
});
