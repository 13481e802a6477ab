import { pino } from 'pino';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { openRedisQueues, postgresQueues } from '../../../src/platform/queue/open-queue-backend.js';
import type { QueueBackend } from '../../../src/platform/queue/queue-backend.js';
import { engines } from '../../support/engines.js';
import { emptyRedis } from '../../support/own-redis.js';
import { redisUrl } from '../../support/prerequisites.js';

const logger = pino({ level: 'silent' });
const EVERY_MS = 5_000;
const DAY_MS = 86_400_000;
const FAR = new Date(Date.now() + 15 * 365 * DAY_MS);
const PATTERN = '43 4 * * *';
const PATIENCE = { timeout: 30_000, interval: 250 };

const backends: { readonly name: string; open(): Promise<{ backend: QueueBackend; close?(): Promise<void> }> }[] = [
  ...engines().map((engine) => ({
    name: engine.name,
    async open() {
      const opened = await engine.open();
      return { backend: postgresQueues(opened.database, logger), close: () => opened.close() };
    },
  })),
  ...(redisUrl
    ? [{ name: 'Redis', open: async () => ({ backend: await openRedisQueues(await emptyRedis(), logger) }) }]
    : []),
];

describe.concurrent.each(backends)('a schedule on $name', ({ open }) => {
  let backend: QueueBackend;
  let closeRest: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    ({ backend, close: closeRest } = await open());
  });
  afterAll(async () => {
    await backend?.close();
    await closeRest?.();
  });

  it.concurrent.for([
    ['an interval', { every: EVERY_MS }],
    ['a pattern', { pattern: PATTERN }],
  ] as const)(
    'of %s that is put off by years, or lost, is made again, at the start and later',
    { timeout: 90_000 },
    async ([name, repeat], { expect }) => {
      const queue = name.replace(' ', '-');
      const due = async () => (await backend.queue(queue).getJobScheduler('again'))?.next ?? Number.POSITIVE_INFINITY;
      const putOff = async () => {
        await backend.queue(queue).removeJobScheduler('again');
        await backend.queue(queue).upsertJobScheduler('again', { ...repeat, startDate: FAR });
        expect(await due()).toBeGreaterThan(Date.now() + 365 * DAY_MS);
      };
      await putOff();
      const kept = await backend.keepSchedule({ queue, id: 'again', repeat, options: {} });
      expect(await due()).toBeLessThan(Date.now() + DAY_MS + EVERY_MS);
      const first = await due();
      await putOff();
      await expect.poll(due, PATIENCE).toBeLessThan(Date.now() + DAY_MS + EVERY_MS);
      await backend.queue(queue).removeJobScheduler('again');
      await expect.poll(due, PATIENCE).toBeLessThan(Date.now() + DAY_MS + EVERY_MS);
      // One that is due in time is left alone.
      if ('pattern' in repeat) expect(await due()).toBe(first);
      await kept.close();
    },
  );

  it.concurrent.for<[string, 'completed' | 'delayed', () => Promise<unknown>]>([
    ['done early', 'completed', async () => undefined],
    ['tried early, and put off by years,', 'delayed', () => Promise.reject(new Error('not with this clock'))],
  ])(
    'of a pattern whose next run was %s by a wrong clock is made again',
    { timeout: 60_000 },
    async ([, state, run], { expect }) => {
      const name = `early-${state}`;
      const queue = backend.queue(name);
      const again = { attempts: 5, backoff: { type: 'fixed', delay: FAR.getTime() - Date.now() } };
      const job = await queue.upsertJobScheduler('again', { pattern: PATTERN, tz: 'UTC' }, { name, opts: again });
      const next = (await queue.getJobScheduler('again'))!.next;
      const worker = backend.worker(name, run);
      await job!.promote();
      await expect.poll(async () => (await queue.getJob(job!.id!))?.getState(), PATIENCE).toBe(state);
      await worker.close();
      await queue.removeJobScheduler('again');
      const right = backend.worker(name, async () => undefined);
      const kept = await backend.keepSchedule({ queue: name, id: 'again', repeat: { pattern: PATTERN }, options: {} });
      await expect.poll(async () => (await queue.getJobScheduler('again'))?.next, PATIENCE).toBe(next);
      // By the id: `timestamp` and `delay` are two readings of the clock, which can differ by a millisecond.
      expect((await queue.getDelayed()).map(({ id }) => id)).toEqual([`repeat:again:${next}`]);
      await right.close();
      await kept.close();
    },
  );
});
