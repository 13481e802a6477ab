import { LRUCache } from 'lru-cache';
import type { Ids } from '../platform/ids.js';
import type { Logger } from '../platform/logger.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import { type ComingStatements, comingSoon } from './coming-statements.js';
import { createCommitNudge } from './commit-nudge.js';
import type { Nudge } from './gathered-nudges.js';
import { suspectLogs } from './halted/suspect-logs.js';
import type { Haste } from './haste.js';
import { createIntakeCursors } from './intake-cursors.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogRef } from './log.js';
import { createRepeat } from './repeat.js';
import { createRoundQueue } from './round-queue.js';
import type { RoundState } from './round-state.js';
import { runRound } from './run-round.js';
import { createSealMemory } from './seal-memory.js';
import { type LedgerLag, sequencerLag } from './sequencer-lag.js';
import { type PendingWork, pendingWork } from './work-store.js';

/** Of so many logs, a process knows how it left them. */
const MOST_LOGS = 10_000;
/** A deployment has two statement logs, the log of keys, and perhaps one of payload hashes. */
const MOST_FRONTIERS = 16;
const SWEEP_MS = 1_000;
/** Maximum number of logs per sweep; the next sweep finds the rest. */
const SWEEP_LOGS = 1_000;

interface LedgerDeps extends LedgerContext {
  readonly ids: Ids;
  readonly queueBackend: QueueBackend;
  readonly metrics: LedgerMetrics;
  /** False while a disk that a round writes to is full, or the clock is wrong: then no round runs. */
  readonly mayRun: () => boolean;
  /** How many logs are processed at once; 1 if the database has one connection. */
  readonly parallelLogs: number;
}

/** Where the ledger reports its counts; connected to the service's metrics. */
export interface LedgerMetrics {
  roundEnded(outcome: 'done' | 'failed', durationMs: number): void;
  batchCommitted(leaves: number): void;
  lagged(lag: LedgerLag): void;
}

export interface Ledger {
  /**
   * Reports that entries wait for a log. Never fails: a lost nudge costs at most a second.
   * @param nudge unless told, one entry began to wait, and nobody waits for the seal. If a caller waits for it, its round
   * does not wait for others or for more entries
   */
  nudge(tenantId: string, logId: string, nudge?: Partial<Nudge>): void;
  /**
   * Tells of statements whose transaction is about to be committed and whose receipts callers wait for: the batch of a
   * quiet log is prepared meanwhile. Otherwise the log is nudged when they are committed. Never fails.
   */
  prepare(log: LogRef, coming: ComingStatements): void;
  /**
   * Starts to work: on nudges, and once a second on all logs with pending rows. When this resolves, the logs that
   * contradict the object store are halted, unless another process holds them.
   */
  start(): Promise<void>;
  /** Stops after the running rounds; the next start, here or in another process, continues with what waits. */
  stop(): Promise<void>;
  /** Sign → commit → seal → publish until nothing is left for this log. @throws the error of the first failing round */
  runRound(tenantId: string, logId: string): Promise<void>;
  lag(): Promise<LedgerLag>;
}

/** The name under which this process takes leases. */
function holderOf({ database, ids }: LedgerDeps): string {
  // Only one process can open the embedded database: a lease of an earlier start is dead and need not be waited for.
  return database.engine === 'embedded PostgreSQL' ? 'embedded' : ids.uuid();
}

/** One round of one log, measured. */
function measuredRounds(
  deps: LedgerDeps,
  holder: string,
): (log: LogRef, coming?: ComingStatements) => Promise<boolean> {
  const { metrics } = deps;
  const state: RoundState = {
    context: deps,
    holder,
    memory: createSealMemory(),
    cursors: createIntakeCursors(),
    left: new LRUCache({ max: MOST_LOGS }),
    frontiers: new LRUCache({ max: MOST_FRONTIERS }),
    committed: metrics.batchCommitted,
  };
  return async (log, coming) => {
    const begun = performance.now();
    let outcome: 'done' | 'failed' = 'failed';
    try {
      const more = await runRound(state, log, coming);
      outcome = 'done';
      return more;
    } finally {
      metrics.roundEnded(outcome, performance.now() - begun);
    }
  };
}

function roundFailed(logger: Logger, { tenantId, logId }: LogRef): (error: unknown) => void {
  return (error) => logger.error({ err: error, tenantId, logId }, 'a round failed');
}

function haltFailed(logger: Logger): (error: unknown) => void {
  return (error) =>
    logger.error({ err: error }, 'the logs could not be compared with the object store; the sweep retries it');
}

const nudgeOf = ({ statements }: ComingStatements): Nudge => ({ urgent: true, entries: statements.length });

/** Creates the sequencers of all logs that this process comes to hold. */
export function createLedger(deps: LedgerDeps): Ledger {
  const { database, clock, logger, metrics } = deps;
  const holder = holderOf(deps);
  const nudges = createCommitNudge(deps.queueBackend, logger);
  const rounds = createRoundQueue(deps.parallelLogs, measuredRounds(deps, holder), () => performance.now());
  let isStarted = false;
  const sweep = createRepeat(() => SWEEP_MS, sweepOnce);
  // What else waits for a log may take minutes, and neither the start nor the other logs wait for it.
  const oneRound = (log: LogRef) => new Promise<void>((ended) => void work(log, 'soon', 0, ended));
  const suspects = suspectLogs(deps, oneRound, haltFailed(logger));

  const pending = (mostLogs: number): Promise<PendingWork> =>
    database.inTransaction('system reading', (tx) => pendingWork(tx, holder, mostLogs));

  /** Calls `ended` when one round has ended, or none begins. The next sweep finds the rows of a failed one again. */
  async function work(log: LogRef, haste: Haste, entries = 0, ended?: () => void): Promise<void> {
    if (deps.mayRun()) await rounds.run(log, haste, entries, ended).catch(roundFailed(logger, log));
    ended?.();
  }

  async function sweepOnce(): Promise<void> {
    try {
      await suspects.halt();
      const found = await pending(SWEEP_LOGS);
      suspects.answeredBy(found.serverSince);
      // A log whose round reads its work may have none any more, and is found again in a second if it has.
      for (const log of found.logs) if (!rounds.isReading(log)) void work(log, 'soon');
      metrics.lagged(sequencerLag(found, clock.now()));
    } catch (error) {
      logger.error({ err: error }, 'the sweep failed');
    }
  }

  return {
    prepare(log, coming) {
      const begun = isStarted && deps.mayRun() ? rounds.begin(log, comingSoon(coming)) : undefined;
      if (begun) begun.catch(roundFailed(logger, log));
      else void coming.committed.then((are) => are && nudges.nudge(log, nudgeOf(coming)));
    },
    nudge: (tenantId, logId, { urgent = false, entries = 1 } = {}) =>
      nudges.nudge({ tenantId, logId }, { urgent, entries }),
    async start() {
      await suspects.halt().catch(haltFailed(logger));
      await nudges.listen((log, { urgent, entries }) => work(log, urgent ? 'urgent' : 'paced', entries));
      isStarted = true;
      sweep.start();
    },
    async stop() {
      isStarted = false;
      await nudges.close();
      await sweep.stop();
      await rounds.close();
    },
    runRound: (tenantId, logId) => rounds.run({ tenantId, logId }, 'soon', 0),
    lag: async () => sequencerLag(await pending(0), clock.now()),
  };
}
