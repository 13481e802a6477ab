import { atIntervals } from '../at-intervals.js';
import { type Closers, closeAll } from '../close-all.js';
import type { Logger } from '../logger.js';

const LOOK_EVERY_MS = 1_000;

interface QueueWork {
  start(): Promise<{ close(): Promise<void> }>;
}

/**
 * Runs jobs only while the clock is right, because the queue computes delays and schedules from the clock of the
 * process that runs a job.
 * @throws if a job does not start, at the first start
 */
export async function runWhileRight(
  jobs: readonly QueueWork[],
  { clockIsWrong, logger }: { readonly clockIsWrong: () => boolean; readonly logger: Logger },
): Promise<{ close(): Promise<void> }> {
  const running: Closers = [];

  async function start(): Promise<void> {
    for (const { start: begin } of jobs.slice(running.length)) {
      const job = await begin();
      running.push(() => job.close());
    }
  }
  const end = (): Promise<void> => closeAll(running);
  async function follow(): Promise<void> {
    if (clockIsWrong()) await end();
    else if (running.length < jobs.length) await start();
  }

  await follow().catch(async (error: unknown) => {
    await end().catch(() => undefined);
    throw error;
  });
  const following = atIntervals(LOOK_EVERY_MS, () =>
    follow().catch((error: unknown) => logger.warn({ err: error }, 'jobs could not be started; this is retried')),
  );
  return {
    async close() {
      await following.close();
      await end();
    },
  };
}
