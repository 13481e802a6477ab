import type { Logger } from '../platform/logger.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';

const SCHEDULE_ID = 'schedule';
const KEPT = { removeOnComplete: { count: 10 }, removeOnFail: { count: 10 } };

/** A job that runs by schedule until it is closed. */
export interface ScheduledJob {
  /** Resolves when a run under way has ended, which it does soon. */
  close(): Promise<void>;
}

/** What runs, and when. */
export interface Schedule {
  /** Of the queue, and in the log. */
  readonly name: string;
  /** A cron pattern, in UTC. */
  readonly pattern: string;
  /** How often a failed run is tried again before the next is due, and after how many milliseconds. */
  readonly retry?: { readonly attempts: number; readonly delayMs: number };
  /** Ends early when `stopping` says so. What it answers is logged. */
  run(stopping: () => boolean): Promise<object>;
}

/**
 * Runs a job by a schedule: one run at a time, in whichever process takes it.
 * @throws for a pattern that is none
 */
export async function startScheduledJob(
  { backend, logger }: { readonly backend: QueueBackend; readonly logger: Logger },
  { name, pattern, retry, run }: Schedule,
): Promise<ScheduledJob> {
  const again = retry && { attempts: retry.attempts, backoff: { type: 'fixed', delay: retry.delayMs } };
  await backend
    .queue(name)
    .upsertJobScheduler(SCHEDULE_ID, { pattern, tz: 'UTC' }, { name, opts: { ...again, ...KEPT } });
  let stopping = false;
  const worker = backend.worker(name, async () => {
    const result = await run(() => stopping);
    logger.info({ job: name, ...result }, 'a scheduled job is done');
    return result;
  });
  worker.on('failed', (_job, error) => logger.warn({ err: error, job: name }, 'a scheduled job failed'));
  return {
    async close() {
      stopping = true;
      await worker.close();
    },
  };
}
