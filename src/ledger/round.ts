import type { Ids } from '../platform/ids.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import { createCommitNudge } from './commit-nudge.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogRef } from './log.js';
import { createMassifFiles } from './massif-files.js';
import { createRepeat } from './repeat.js';
import { createRoundQueue } from './round-queue.js';
import { type RoundState, runRound } from './run-round.js';
import { type LedgerLag, sequencerLag } from './sequencer-lag.js';
import { logsWithWork } from './work-store.js';

const SWEEP_MS = 1_000;
/** How many logs one sweep hands out; the next one finds the rest. */
const SWEEP_LOGS = 1_000;

export interface LedgerDeps extends LedgerContext {
  readonly ids: Ids;
  readonly queueBackend: QueueBackend;
  readonly metrics: LedgerMetrics;
  /** How many logs are worked on at once; 1 where the database has one connection. */
  readonly parallelLogs: number;
}

/** Where the ledger counts; wired to the service's one list of metrics. */
export interface LedgerMetrics {
  roundEnded(outcome: 'done' | 'failed', durationMs: number): void;
  batchCommitted(leaves: number): void;
  lagged(lag: LedgerLag): void;
}

export interface Ledger {
  /** Says that entries wait for a log. Never fails: a lost nudge costs a second. */
  nudge(tenantId: string, logId: string): void;
  /** Begins to work: on nudges, and once a second on whatever rows say that there is work. */
  start(): Promise<void>;
  /** Ends after the rounds that run; what waits is taken up by the next start, here or elsewhere. */
  stop(): Promise<void>;
  /** Sign → commit → seal → publish until nothing is left for this log. @throws what the first failing round throws */
  runRound(tenantId: string, logId: string): Promise<void>;
  lag(): Promise<LedgerLag>;
}

/** One round of one log, measured. */
function measuredRounds(deps: LedgerDeps, holder: string): (log: LogRef) => Promise<boolean> {
  const { clock, metrics } = deps;
  const state: RoundState = { context: deps, holder, files: createMassifFiles(), committed: metrics.batchCommitted };
  return async (log) => {
    const begun = clock.now();
    let outcome: 'done' | 'failed' = 'failed';
    try {
      const more = await runRound(state, log);
      outcome = 'done';
      return more;
    } finally {
      metrics.roundEnded(outcome, clock.now() - begun);
    }
  };
}

/** The sequencers of all logs that this process comes to hold. */
export function createLedger(deps: LedgerDeps): Ledger {
  const { database, clock, logger, metrics } = deps;
  // The embedded database has one process at a time: a lease that another start took is dead, not to be waited for.
  const holder = database.engine === 'embedded PostgreSQL' ? 'embedded' : deps.ids.uuid();
  const nudges = createCommitNudge(deps.queueBackend, logger);
  const rounds = createRoundQueue(deps.parallelLogs, measuredRounds(deps, holder));
  const sweep = createRepeat(SWEEP_MS, sweepOnce);

  /** A failed round leaves rows behind that the next sweep finds again. */
  async function work(log: LogRef): Promise<void> {
    try {
      await rounds.run(log);
    } catch (error) {
      logger.error({ err: error, tenantId: log.tenantId, logId: log.logId }, 'a round failed');
    }
  }

  async function sweepOnce(): Promise<void> {
    try {
      for (const log of await database.inTransaction('system', (tx) => logsWithWork(tx, holder, SWEEP_LOGS)))
        void work(log);
      metrics.lagged(await sequencerLag(database, clock.now()));
    } catch (error) {
      logger.error({ err: error }, 'the sweep failed');
    }
  }

  return {
    nudge: (tenantId, logId) => nudges.nudge({ tenantId, logId }),
    async start() {
      await nudges.listen(work);
      sweep.start();
    },
    async stop() {
      await nudges.close();
      await sweep.stop();
      await rounds.close();
    },
    runRound: (tenantId, logId) => rounds.run({ tenantId, logId }),
    lag: () => sequencerLag(database, clock.now()),
  };
}
