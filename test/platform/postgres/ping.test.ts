import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TimeLimitError, within } from '../../../src/platform/time-limit.js';
import { engines, type TestDatabase } from '../../support/engines.js';

/** As long as a health check waits. */
const LIMIT_MS = 2_000;

describe.each(engines())('a ping of %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
  });
  afterAll(() => opened?.close());

  const work = (ms: number) => opened.database.inTransaction('system reading', () => wait(ms));
  const ping = () => within(LIMIT_MS, opened.database.ping(), 'no answer in time');

  it('is answered while the work before it in the queue takes longer than a health check waits', async () => {
    const queue = Array.from({ length: 16 * opened.database.connections }, () => work(200));
    const pings = Array.from({ length: 16 }, ping);
    await Promise.all(pings);
    await Promise.all(queue);
    await ping();
  });

  it('is not answered while nothing of the work before it ends', async () => {
    const queue = Array.from({ length: opened.database.connections }, () => work(LIMIT_MS + 500));
    await expect(ping()).rejects.toThrow(TimeLimitError);
    await Promise.all(queue);
    await ping();
  });
});
