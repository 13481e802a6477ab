import type { Logger } from '../platform/logger.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import type { LogRef } from './log.js';

const QUEUE = 'commit-log';
/** Entries accepted within this time share one job of the queue. */
const DEBOUNCE_MS = 25;

/**
 * Wakes the ledger: at once and in memory if it runs in this process, otherwise through the queue. Only a hint: the
 * sweep finds the rows without it.
 */
interface CommitNudge {
  /**
   * Never fails and never waits. Without a ledger here, queues one job per log, and one more if that log's job is
   * running.
   */
  nudge(log: LogRef): void;
  /** Handles the jobs in this process. @param round must not reject */
  listen(round: (log: LogRef) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export function createCommitNudge(backend: QueueBackend, logger: Logger): CommitNudge {
  const queue = backend.queue(QUEUE);
  const timers = new Map<string, NodeJS.Timeout>();
  const turns = new Map<string, NodeJS.Immediate>();
  let worker: ReturnType<QueueBackend['worker']> | undefined;
  let here: ((log: LogRef) => Promise<void>) | undefined;

  function enqueue(log: LogRef): void {
    queue
      .add(
        QUEUE,
        { tenantId: log.tenantId, logId: log.logId },
        { deduplication: { id: log.logId, keepLastIfActive: true }, removeOnComplete: true, removeOnFail: true },
      )
      .catch((error: unknown) => logger.warn({ err: error }, 'the queue accepts no jobs: the sweep does the work'));
  }

  /** Entries that are accepted in the same turn of the event loop share one round. */
  function runSoon(round: (log: LogRef) => Promise<void>, log: LogRef): void {
    if (turns.has(log.logId)) return;
    const run = (): void => {
      turns.delete(log.logId);
      void round(log);
    };
    turns.set(log.logId, setImmediate(run));
  }

  function enqueueSoon(log: LogRef): void {
    if (timers.has(log.logId)) return;
    const add = (): void => {
      timers.delete(log.logId);
      enqueue(log);
    };
    timers.set(log.logId, setTimeout(add, DEBOUNCE_MS).unref());
  }

  return {
    nudge(log) {
      // A job would come back to this process, or to another one that is no closer to the rows.
      if (here) runSoon(here, log);
      else enqueueSoon(log);
    },
    async listen(round) {
      here = round;
      worker = backend.worker(QUEUE, (job) => round(job.data as LogRef), { concurrency: 4 });
    },
    async close() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      for (const turn of turns.values()) clearImmediate(turn);
      turns.clear();
      await worker?.close();
    },
  };
}
