import { randomUUID } from 'node:crypto';
import { encode } from 'cborg';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openRateLimiter } from '../../src/platform/rate-limiter.js';
import { freePort } from '../support/free-port.js';
import { redisUrl } from '../support/prerequisites.js';
import { sendCose } from './send-cose.js';
import { type Answer, type Client, startTestService, type TestService } from './test-service.js';
import { uploadFile } from './upload-file.js';

const LIMIT = 5;
const logger = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, fatal() {} } as never;

let running: TestService;
let owner: Client;
let stranger: Client;
beforeAll(async () => {
  running = await startTestService({ RATE_LIMIT: String(LIMIT) });
  owner = running.owner;
  stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
});
afterAll(() => running?.close());

const list = (client: Client) => client.get('/archivist/v2/assets?page_size=1');
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
/** As many as answer before a second is over, and more than its limit. */
const burst = (client: Client) => Promise.all(Array.from({ length: 4 * LIMIT }, () => list(client)));
const refusedOf = (answers: Answer[]) => answers.filter((answer) => answer.status === 429);

describe('requests of a tenancy', () => {
  it('beyond its limit are refused with the time to wait, in words that both kinds of client read', async () => {
    const [refused] = refusedOf(await burst(owner));
    expect(refused?.json).toEqual({
      error: 'rate_limited',
      description: `This tenancy may send ${LIMIT} requests per second.`,
    });
    const reset = Number(refused?.headers.get('archivist-rate-limit-reset'));
    expect(reset).toBeGreaterThan(0);
    expect(reset).toBeLessThanOrEqual(1);
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect(refused?.headers.get('ratelimit')).toBe('"tenancy";r=0;t=1');
  });

  it('are told how many are left', async () => {
    await pause(1100);
    const answer = await list(owner);
    expect(answer.headers.get('ratelimit-policy')).toBe(`"tenancy";q=${LIMIT};w=1`);
    expect(answer.headers.get('ratelimit')).toMatch(/^"tenancy";r=[34];t=1$/);
  });

  it('are answered again once that time is over', async () => {
    const refused = refusedOf(await burst(owner)).at(-1);
    await pause(1000 * Number(refused?.headers.get('archivist-rate-limit-reset')) + 50);
    expect((await list(owner)).status).toBe(200);
  });

  it('leave another tenancy its own, and are shared by all applications of one', async () => {
    await pause(1100);
    const colleague = await running.client({});
    const answers = await Promise.all([burst(owner), list(stranger), list(colleague)]);
    expect(refusedOf(answers[0]).length).toBeGreaterThan(0);
    expect(answers[1].status).toBe(200);
    expect((await Promise.all([burst(owner), burst(colleague)])).flatMap(refusedOf).length).toBeGreaterThan(LIMIT);
  });

  it('with a wrong token are refused for that, and without one are not counted', async () => {
    const open = await Promise.all(Array.from({ length: 4 * LIMIT }, () => running.anonymous.get('/healthz')));
    expect(open.map((answer) => answer.status)).not.toContain(429);
    expect((await running.anonymous.get('/archivist/v2/assets')).status).toBe(401);
  });
});

describe('uploads of a tenancy', () => {
  it('beyond its limit wait instead of being refused, because a client cannot always send a file twice', async () => {
    const fresh = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    const uploads = Array.from({ length: 3 * LIMIT }, (_, number) =>
      uploadFile(running.url, fresh, new TextEncoder().encode(`file ${number}`)),
    );
    const answers = await Promise.all(uploads);
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
    expect(answers.map((answer) => answer.json['size'])).toEqual(answers.map((_, number) => `file ${number}`.length));
  });
});

describe('a bulk request counts as its events', () => {
  const bulk = (client: Client, events: number) =>
    client.post('/archivist/v1/events:bulk', { events: Array.from({ length: events }, () => ({ attributes: {} })) });

  /** Asks for a new tenancy, and for another one where a busy machine took longer than this. */
  async function askWithin<T>(milliseconds: number, ask: (client: Client) => Promise<T>): Promise<T> {
    for (;;) {
      const client = await running.client({ otherTenancy: true, roles: ['OWNER'] });
      const begun = performance.now();
      const answers = await ask(client);
      if (performance.now() - begun < milliseconds) return answers;
    }
  }

  it('so that two of them may exceed a second together', async () => {
    const answers = await askWithin(1_000, (client) => Promise.all([bulk(client, LIMIT - 1), bulk(client, LIMIT - 1)]));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 429]);
  });

  it('or as its statements', async () => {
    const register = (client: Client) =>
      sendCose(running.url, client, '/entries:bulk', encode(Array(LIMIT - 1).fill(new Uint8Array([1]))), {
        'content-type': 'application/cbor',
      });
    const answers = await askWithin(1_000, (client) => Promise.all([register(client), register(client)]));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 429]);
  });

  it('and one that is larger than a second keeps those that follow', async () => {
    const [large, refused] = await askWithin(2_000, async (client) => [
      await bulk(client, 3 * LIMIT),
      await list(client),
    ]);
    expect([large!.status, refused!.status]).toEqual([200, 429]);
    expect(Number(refused!.headers.get('archivist-rate-limit-reset'))).toBeGreaterThan(1);
    expect(Number(refused!.headers.get('archivist-rate-limit-reset'))).toBeLessThanOrEqual(3);
  });

  it('and is not kept out by other requests that leave less of the second than it needs', async () => {
    const fresh = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    const others = await Promise.all([list(fresh), list(fresh)]);
    expect([...others, await bulk(fresh, 3 * LIMIT)].map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('and none of a refused one is kept', async () => {
    const fresh = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    expect((await bulk(fresh, 2 * LIMIT)).status).toBe(200);
    const refused = await bulk(fresh, LIMIT);
    expect(refused.status).toBe(429);
    await pause(1000 * Number(refused.headers.get('archivist-rate-limit-reset')) + 50);
    const { json } = await fresh.post('/archivist/v1/events/search', { filter: '' });
    expect((json['events'] as unknown[]).length).toBe(2 * LIMIT);
  });
});

describe('the limit', () => {
  type Limiter = ReturnType<typeof openRateLimiter>;

  /** How many of these requests, one to each limiter in turn, all in one second, are admitted. */
  async function admitted(limiters: readonly Limiter[], times: number): Promise<number> {
    for (;;) {
      const tenancy = crypto.randomUUID();
      const begun = performance.now();
      const asked = await Promise.allSettled(
        Array.from({ length: times }, (_, count) => limiters[count % limiters.length]!.admit(tenancy)),
      );
      // On a busy machine they can take longer, and some are of the next second.
      if (performance.now() - begun >= 1_000) continue;
      const refused = asked.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
      expect(refused).toEqual(refused.map(() => expect.objectContaining({ code: 'rate_limited' })));
      return times - refused.length;
    }
  }

  it('holds in one process without a Redis', async () => {
    const limiter = openRateLimiter({ requestsPerSecond: 50, redisUrl: undefined, logger });
    expect(await admitted([limiter], 60)).toBe(50);
    expect(await admitted([limiter], 1)).toBe(1);
  });

  it('holds in each process while the Redis is away', async () => {
    const redisUrl = `redis://127.0.0.1:${await freePort()}`;
    const limiter = openRateLimiter({ requestsPerSecond: 50, redisUrl, logger });
    expect(await admitted([limiter], 60)).toBe(50);
    limiter.close();
  });

  it.skipIf(!redisUrl)('is one for all processes that share a Redis', async () => {
    const open = () => openRateLimiter({ requestsPerSecond: 50, redisUrl, logger });
    const limiters = [open(), open()];
    // Until it is connected, each counts its own.
    await expect.poll(() => admitted(limiters, 80), { timeout: 30_000 }).toBe(50);
    for (const limiter of limiters) limiter.close();
  });

  it.skipIf(!redisUrl)(
    'refuses for no longer than a bulk request does, if the clock of the Redis was set back',
    async () => {
      const limiter = openRateLimiter({ requestsPerSecond: 50, redisUrl, logger });
      const redis = new Redis(redisUrl!);
      const refused = await vi.waitFor(async () => {
        const tenancy = randomUUID();
        await limiter.admit(tenancy, 50);
        expect(await redis.pexpire(`vcon-archivist-rate:${tenancy}`, 3_601_000)).toBe(1);
        return limiter.admit(tenancy).catch((error: unknown) => error);
      }, 30_000);
      expect(refused).toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '1' } });
      redis.disconnect();
      limiter.close();
    },
  );
});
