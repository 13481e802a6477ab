import type { Logger } from '../platform/logger.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import { gatherNudges, type Nudge, type Nudged } from './gathered-nudges.js';
import type { LogRef } from './log.js';

const QUEUE = 'commit-log';
/** Entries accepted within this time share one job of the queue. */
const DEBOUNCE_MS = 25;
/** Jobs at once in this process: most of them wait for their log's turn, and a waiting caller's job must not wait for them. */
const MOST_JOBS = 32;

/**
 * Wakes the ledger: at once and in memory if it runs in this process, otherwise through the queue. Only a hint: the
 * sweep finds the rows without it.
 */
interface CommitNudge {
  /**
   * Never fails and never waits. Without a ledger here, queues one job per log, or two if a caller waits, and one more if
   * that job is running.
   */
  nudge(log: LogRef, nudge: Nudge): void;
  /** Handles the jobs in this process. @param round must not reject */
  listen(round: Round): Promise<void>;
  close(): Promise<void>;
}

type Round = (log: LogRef, nudge: Nudge) => Promise<void>;

/** A job of an earlier version names only the log. */
function queued({ urgent = false, entries = 1 }: Partial<Nudge>): Nudge {
  return { urgent, entries };
}

async function addJob(backend: QueueBackend, { log: { tenantId, logId }, urgent, entries }: Nudged): Promise<void> {
  // A job of its own: it must not be dropped for one that pauses.
  const id = urgent ? `urgent-${logId}` : logId;
  await backend
    .queue(QUEUE)
    .add(
      QUEUE,
      { tenantId, logId, urgent, entries },
      { deduplication: { id, keepLastIfActive: true }, removeOnComplete: true, removeOnFail: true },
    );
}

export function createCommitNudge(backend: QueueBackend, logger: Logger): CommitNudge {
  const timers = new Map<string, NodeJS.Timeout>();
  /** Logs that were nudged in this turn of the event loop, or since their timer began. */
  const nudged = gatherNudges();
  let turn: NodeJS.Immediate | undefined;
  let worker: ReturnType<QueueBackend['worker']> | undefined;
  let here: Round | undefined;

  /** Entries that are accepted in the same turn of the event loop share one round; urgent rounds begin first. */
  function runSoon(round: Round): void {
    turn ??= setImmediate(() => {
      turn = undefined;
      for (const each of nudged.takeAll()) void round(each.log, each);
    });
  }

  function enqueueSoon(log: LogRef): void {
    if (timers.has(log.logId)) return;
    const add = (): void => {
      timers.delete(log.logId);
      const waiting = nudged.take(log);
      // A ledger that has begun in this process since then may have taken it.
      if (!waiting) return;
      addJob(backend, waiting).catch((error: unknown) =>
        logger.warn({ err: error }, 'the queue accepts no jobs: the next sweep does this work'),
      );
    };
    timers.set(log.logId, setTimeout(add, DEBOUNCE_MS).unref());
  }

  return {
    nudge(log, nudge) {
      nudged.add(log, nudge);
      // A job would come back to this process, or to another one that is no closer to the rows.
      if (here) runSoon(here);
      else enqueueSoon(log);
    },
    async listen(round) {
      here = round;
      worker = backend.worker(QUEUE, ({ data }) => round(data as LogRef, queued(data)), {
        concurrency: MOST_JOBS,
      });
    },
    async close() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      if (turn) clearImmediate(turn);
      nudged.takeAll();
      await worker?.close();
    },
  };
}
