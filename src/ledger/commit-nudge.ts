import type { Logger } from '../platform/logger.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import type { LogRef } from './log.js';

const QUEUE = 'commit-log';
/** Entries accepted within this time share one job. */
const DEBOUNCE_MS = 25;

/**
 * Wakes the ledger, in this process if it runs here, otherwise in the process that runs it. Only a hint: the sweep
 * finds the rows without it.
 */
interface CommitNudge {
  /** Never fails and never waits: queues one job per log, and one more if that log's job is running. */
  nudge(log: LogRef): void;
  /** Handles the jobs in this process. @param round must not reject */
  listen(round: (log: LogRef) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export function createCommitNudge(backend: QueueBackend, logger: Logger): CommitNudge {
  const queue = backend.queue(QUEUE);
  const timers = new Map<string, NodeJS.Timeout>();
  let worker: ReturnType<QueueBackend['worker']> | undefined;
  let here: ((log: LogRef) => Promise<void>) | undefined;

  function add(log: LogRef): void {
    timers.delete(log.logId);
    // A job would come back to this process, or to another one that is no closer to the rows.
    if (here) void here(log);
    else enqueue(log);
  }

  function enqueue(log: LogRef): void {
    queue
      .add(
        QUEUE,
        { tenantId: log.tenantId, logId: log.logId },
        { deduplication: { id: log.logId, keepLastIfActive: true }, removeOnComplete: true, removeOnFail: true },
      )
      .catch((error: unknown) => logger.warn({ err: error }, 'the queue accepts no jobs: the sweep does the work'));
  }

  return {
    nudge(log) {
      if (!timers.has(log.logId)) timers.set(log.logId, setTimeout(() => add(log), DEBOUNCE_MS).unref());
    },
    async listen(round) {
      here = round;
      worker = backend.worker(QUEUE, (job) => round(job.data as LogRef), { concurrency: 4 });
    },
    async close() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      await worker?.close();
    },
  };
}
