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
   * @param urgent whether a caller waits; only a ledger in this process learns of it
   */
  nudge(log: LogRef, urgent?: boolean): void;
  /** Handles the jobs in this process. @param round must not reject */
  listen(round: Round): Promise<void>;
  close(): Promise<void>;
}

type Round = (log: LogRef, urgent: boolean) => Promise<void>;

export function createCommitNudge(backend: QueueBackend, logger: Logger): CommitNudge {
  const timers = new Map<string, NodeJS.Timeout>();
  /** Logs that were nudged in this turn of the event loop. */
  const nudged = new Map<string, { readonly log: LogRef; readonly urgent: boolean }>();
  let turn: NodeJS.Immediate | undefined;
  let worker: ReturnType<QueueBackend['worker']> | undefined;
  let here: Round | undefined;

  function enqueue(log: LogRef): void {
    backend
      .queue(QUEUE)
      .add(
        QUEUE,
        { tenantId: log.tenantId, logId: log.logId },
        { deduplication: { id: log.logId, keepLastIfActive: true }, removeOnComplete: true, removeOnFail: true },
      )
      .catch((error: unknown) => logger.warn({ err: error }, 'the queue accepts no jobs: the sweep does the work'));
  }

  /** Entries that are accepted in the same turn of the event loop share one round; urgent rounds begin first. */
  function runSoon(round: Round, log: LogRef, urgent: boolean): void {
    nudged.set(log.logId, { log, urgent: urgent || nudged.get(log.logId)?.urgent === true });
    turn ??= setImmediate(() => {
      turn = undefined;
      const all = [...nudged.values()].sort((one, other) => Number(other.urgent) - Number(one.urgent));
      nudged.clear();
      for (const each of all) void round(each.log, each.urgent);
    });
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
    nudge(log, urgent = false) {
      // A job would come back to this process, or to another one that is no closer to the rows.
      if (here) runSoon(here, log, urgent);
      else enqueueSoon(log);
    },
    async listen(round) {
      here = round;
      worker = backend.worker(QUEUE, (job) => round(job.data as LogRef, false), { concurrency: 4 });
    },
    async close() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      if (turn) clearImmediate(turn);
      nudged.clear();
      await worker?.close();
    },
  };
}
