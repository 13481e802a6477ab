import type { Logger } from '../logger.js';
import type { QueueBackend, QueueSchedule } from './queue-backend.js';

const SCHEDULE_ID = 'schedule';
const KEPT = { removeOnComplete: { count: 10 }, removeOnFail: { count: 10 } };
/** Options of jobs whose results nobody reads. */
export const FORGOTTEN = { removeOnComplete: true, removeOnFail: true };

/** A job that runs on a schedule until it is closed. */
export interface ScheduledJob {
  /** Resolves when a run in progress has ended, which it does soon. */
  close(): Promise<void>;
}

/** The schedule of a queue, and what its jobs do. */
interface Repeated extends QueueSchedule {
  /** Ends early if `stopping` returns true. */
  run(stopping: () => boolean): Promise<unknown>;
  /** Told of each run that failed. */
  failed(error: Error): void;
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

/**
 * Runs the jobs of a queue: those that its schedule adds, and any other. One runs at a time, in one of the processes.
 * @throws for an invalid pattern
 */
export async function startRepeatedJob(
  backend: QueueBackend,
  { run, failed, ...repeated }: Repeated,
): Promise<ScheduledJob> {
  const schedule = await backend.keepSchedule(repeated);
  let stopping = false;
  const worker = backend.worker(repeated.queue, () => run(() => stopping));
  worker.on('failed', (_job, error) => failed(error));
  return {
    async close() {
      stopping = true;
      await schedule.close();
      await worker.close();
    },
  };
}

/**
 * Runs a job by a cron pattern, and logs its results and failures. One runs at a time, in one of the processes.
 * @throws for an invalid pattern
 */
export function startScheduledJob(
  { backend, logger }: { readonly backend: QueueBackend; readonly logger: Logger },
  { name, pattern, retry, run }: Schedule,
): Promise<ScheduledJob> {
  const again = retry && { attempts: retry.attempts, backoff: { type: 'fixed', delay: retry.delayMs, jitter: 0.5 } };
  return startRepeatedJob(backend, {
    queue: name,
    id: SCHEDULE_ID,
    repeat: { pattern },
    options: { ...again, ...KEPT },
    async run(stopping) {
      const result = await run(stopping);
      logger.info({ job: name, ...result }, 'a scheduled job is done');
      return result;
    },
    failed: (error) => logger.warn({ err: error, job: name }, 'a scheduled job failed'),
  });
}

/** Ends a schedule that an earlier start has made. */
export async function removeSchedule(backend: QueueBackend, name: string): Promise<void> {
  await backend.queue(name).removeJobScheduler(SCHEDULE_ID);
}
