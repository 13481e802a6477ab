import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type AttemptLimiter, openAttemptLimiter } from '../../src/platform/attempt-limiter.js';
import { createLogger } from '../../src/platform/logger.js';
import { redisUrl } from '../support/prerequisites.js';

const opened: AttemptLimiter[] = [];
afterEach(() => {
  for (const limiter of opened.splice(0)) limiter.close();
});

function open(name: string, url: string | undefined): AttemptLimiter {
  const options = { name, attempts: 3, seconds: 60, redisUrl: url, logger: createLogger('silent') };
  const limiter = openAttemptLimiter(options);
  opened.push(limiter);
  return limiter;
}

describe('an attempt limiter', () => {
  it('shuts for a key when its window is full, and tells once that it is', async () => {
    const limiter = open(randomUUID(), undefined);
    const filled: boolean[] = [];
    for (let count = 0; count < 5; count += 1) filled.push((await limiter.count('a')).fills);
    expect(filled).toEqual([false, false, true, false, false]);
    expect(await limiter.shutFor('a')).toBeGreaterThan(0);
    expect(await limiter.shutFor('b')).toBeUndefined();
  });

  it('has room for no more attempts at the same time than in a row', async () => {
    const limiter = open(randomUUID(), undefined);
    const counted = await Promise.all(Array.from({ length: 5 }, () => limiter.count('a')));
    expect(counted.filter(({ shutFor }) => shutFor === undefined)).toHaveLength(3);
  });

  it('knows an attempt that passes the limit in one step as the one that fills the window', async () => {
    const limiter = open(randomUUID(), undefined);
    expect(await limiter.count('a', 2)).toEqual({ shutFor: undefined, fills: false });
    expect(await limiter.count('a', 2)).toEqual({ shutFor: undefined, fills: true });
    expect(await limiter.count('a', 0)).toEqual({ shutFor: expect.any(Number), fills: false });
    await limiter.count('a', -2);
    expect(await limiter.count('a')).toEqual({ shutFor: undefined, fills: true });
  });

  it.skipIf(!redisUrl)('counts for all processes together on one Redis', async () => {
    const name = randomUUID();
    const [one, other] = [open(name, redisUrl), open(name, redisUrl)];
    // Until both have connected, each counts by itself.
    await vi.waitFor(async () => {
      const key = randomUUID();
      await one.count(key);
      await other.count(key);
      expect(await one.count(key)).toMatchObject({ fills: true });
      expect(await other.shutFor(key)).toBeGreaterThan(0);
    }, 30_000);
  });

  it.skipIf(!redisUrl)(
    'shuts for no longer than its window, if the clock of its Redis was set back meanwhile',
    async () => {
      const name = randomUUID();
      const limiter = open(name, redisUrl);
      const redis = new Redis(redisUrl!);
      const key = await vi.waitFor(async () => {
        const filled = randomUUID();
        await limiter.count(filled, 3);
        // What a clock that is set back by an hour does to the end of a window.
        expect(await redis.pexpire(`vcon-archivist-${name}:${filled}`, 3_660_000)).toBe(1);
        return filled;
      }, 30_000);
      const shutFor = await limiter.shutFor(key);
      expect(shutFor).toBeGreaterThan(0);
      expect(shutFor).toBeLessThanOrEqual(60_000);
      expect(await redis.pttl(`vcon-archivist-${name}:${key}`)).toBeLessThanOrEqual(60_000);
      redis.disconnect();
    },
  );

  it('counts by itself while its Redis does not answer', async () => {
    const limiter = open(randomUUID(), 'redis://127.0.0.1:1');
    for (let count = 0; count < 3; count += 1) await limiter.count('a');
    expect(await limiter.shutFor('a')).toBeGreaterThan(0);
  });
});
