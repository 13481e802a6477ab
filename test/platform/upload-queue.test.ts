import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ApiError, retryLater } from '../../src/platform/errors.js';
import { createUploadQueue } from '../../src/platform/upload-queue.js';

const LIMITS = { waitMs: 60_000, perKey: 2, total: 3 };
const present = () => new AbortController().signal;
const limited = (seconds: number) => retryLater('rate_limited', 'Too many.', seconds);

/** Refuses so often, then admits. */
function refusing(times: number, seconds = 0.01) {
  const asked = { times: 0 };
  const admit = async () => {
    asked.times += 1;
    if (asked.times <= times) throw limited(seconds);
    return asked.times;
  };
  return { asked, admit };
}

describe('an upload over the rate limit', () => {
  it('waits until it is admitted', async () => {
    const { admit } = refusing(3);
    expect(await createUploadQueue(LIMITS).admit('a', admit, present())).toBe(4);
  });

  it('waits behind those that arrived before it', async () => {
    const queue = createUploadQueue(LIMITS);
    const order: string[] = [];
    const first = queue.admit('a', refusing(3).admit, present()).then(() => order.push('first'));
    const second = queue.admit('a', refusing(0).admit, present()).then(() => order.push('second'));
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'second']);
  });

  it('is refused if it would have to wait for too long', async () => {
    const { admit, asked } = refusing(1, 61);
    await expect(createUploadQueue(LIMITS).admit('a', admit, present())).rejects.toMatchObject({ status: 429 });
    expect(asked.times).toBe(1);
  });

  it('is refused if too many of its tenancy, or of all, wait', async () => {
    const queue = createUploadQueue(LIMITS);
    const gone = new AbortController();
    const forever = (key: string) => queue.admit(key, async () => Promise.reject(limited(0.01)), gone.signal);
    const waiting = [forever('a'), forever('a')];
    await expect(forever('a')).rejects.toMatchObject({ status: 429 });
    waiting.push(forever('b'));
    await expect(forever('c')).rejects.toMatchObject({ status: 429 });
    gone.abort();
    const ended = await Promise.allSettled(waiting);
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await queue.admit('a', refusing(1).admit, present())).toBe(2);
  });

  it('leaves the queue when its client disconnects, and takes nothing from the budget', async () => {
    const queue = createUploadQueue(LIMITS);
    const gone = new AbortController();
    const { admit, asked } = refusing(1, 50);
    const left = queue.admit('a', admit, gone.signal);
    const next = queue.admit('a', refusing(0).admit, present());
    left.catch(() => undefined);
    await wait(20);
    gone.abort();
    await expect(left).rejects.toBeInstanceOf(ApiError);
    expect(await next).toBe(1);
    expect(asked.times).toBe(1);
  });

  it('is refused at once for any other reason', async () => {
    const away = async () => Promise.reject(new ApiError('unavailable', 'away'));
    await expect(createUploadQueue(LIMITS).admit('a', away, present())).rejects.toMatchObject({ status: 503 });
  });
});
