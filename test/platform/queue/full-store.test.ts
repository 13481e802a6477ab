import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openEmbedded } from '../../../src/platform/postgres/open-embedded.js';
import type { PooledDatabase } from '../../../src/platform/postgres/pooled-database.js';
import { postgresQueues } from '../../../src/platform/queue/open-queue-backend.js';
import type { QueueBackend } from '../../../src/platform/queue/queue-backend.js';
import { embeddedDataDir } from '../../support/engines.js';
import { unwatchedDisk } from '../../support/unwatched-disk.js';

let database: PooledDatabase;
let backend: QueueBackend;
let full = false;
beforeAll(async () => {
  const disk = { ...unwatchedDisk(), isFull: () => full };
  database = await openEmbedded(join(await embeddedDataDir(), 'embedded'), { disk });
  backend = postgresQueues(database, pino({ level: 'silent' }));
});
afterAll(async () => {
  await backend?.close();
  await database?.close();
});

it('while the store is full, jobs are refused and counted, workers rest between attempts, and all goes on with room', async () => {
  const done: string[] = [];
  const queue = backend.queue('resting');
  await queue.add('first', {});
  full = true;
  const errorsAt: number[] = [];
  const worker = backend.worker('resting', async (job) => void done.push(job.name));
  const rested = new Promise<void>((resolve) => {
    worker.on('error', () => {
      if (errorsAt.push(performance.now()) === 3) resolve();
    });
  });
  await rested;
  // At least a second after each error: no load makes this shorter.
  expect(errorsAt[2]! - errorsAt[0]!).toBeGreaterThan(1_900);
  await expect(queue.add('refused', {})).rejects.toMatchObject({ code: 'disk_full' });
  expect(await queue.getJobCountByTypes('waiting')).toBe(1);
  expect(done).toEqual([]);
  full = false;
  await expect.poll(() => done, { timeout: 30_000 }).toEqual(['first']);
}, 60_000);
