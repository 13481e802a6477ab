import type { Logger } from '../logger.js';
import type { QueueBackend } from './queue-backend.js';

const SCHEDULE_ID = 'schedule';
const KEPT = { removeOnComplete: { count: 10 }, removeOnFail: { count: 10 } };

/** A job that runs on a schedule until it is closed. */
export interface ScheduledJob {
  /** Resolves when a run in progress has ended, which it does soon. */
  close(): Promise<void>;
}

/** The job and its times. */
interface Schedule {
  /** Name of the queue, also used in the log. */
  readonly name: string;
  /** A cron pattern, in UTC. */
  readonly pattern: string;
  /** How often a failed run is retried before the next is due, and the delay in milliseconds, of which half is random. */
  readonly retry?: { readonly attempts: number; readonly delayMs: number };
  /** Ends early if `stopping` returns true. Its result is logged. */
  run(stopping: () => boolean): Promise<object>;
}

/** Ends a schedule that an earlier start has made. */
export async function removeSchedule(backend: QueueBackend, name: string): Promise<void> {
  await backend.queue(name).removeJobScheduler(SCHEDULE_ID);
}

/**
 * Runs a job on a schedule: one run at a time, in one of the processes.
 * @throws for an invalid pattern
 */
export async function startScheduledJob(
  { backend, logger }: { readonly backend: QueueBackend; readonly logger: Logger },
  { name, pattern, retry, run }: Schedule,
): Promise<ScheduledJob> {
  const again = retry && { attempts: retry.attempts, backoff: { type: 'fixed', delay: retry.delayMs, jitter: 0.5 } };
  const schedule = await backend.keepSchedule({
    queue: name,
    id: SCHEDULE_ID,
    repeat: { pattern },
    options: { ...again, ...KEPT },
  });
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
      await schedule.close();
      await worker.close();
    },
  };
}
