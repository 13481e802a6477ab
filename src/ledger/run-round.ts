import { commitBatch } from './commit-batch.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogRef, LogState } from './log.js';
import { ClockSkewed, LeaseLost, LogInconsistent } from './log-inconsistent.js';
import { haltLog, releaseLease, takeLease } from './log-store.js';
import type { MassifFiles } from './massif-files.js';
import { publishSeal } from './publish-seal.js';
import { sealLog } from './seal-log.js';
import { checkLastSealObject } from './seal-object.js';
import { findSeal } from './seal-store.js';
import { signStatements } from './sign-statements.js';

/** The round ends after this many batches, so that a busy log does not keep others waiting. */
const BATCHES = 8;
/** If the clocks of the process and the database differ by more than this, no times are assigned. */
const MAX_SKEW_MS = 5_000;

/** What a process keeps between the rounds of its logs. */
export interface RoundState {
  readonly context: LedgerContext;
  /** Names this process in the leases it takes. */
  readonly holder: string;
  readonly files: MassifFiles;
  /** Called after each committed batch. */
  readonly committed: (leaves: number) => void;
}

async function leaseLog({ context, holder }: RoundState, ref: LogRef): Promise<LogState | undefined> {
  const before = context.clock.now();
  const taken = await context.database.inTransaction('system', (tx) => takeLease(tx, ref, holder));
  if (!taken) return undefined;
  const after = context.clock.now();
  const skew = Math.max(before - taken.databaseMs, taken.databaseMs - after);
  if (skew > MAX_SKEW_MS) {
    await context.database.inTransaction('system', (tx) => releaseLease(tx, taken.log));
    throw new ClockSkewed(
      `the clock differs from the database's by ${Math.round(skew / 1_000)} s: the sequencer does not run`,
    );
  }
  return taken.log;
}

/** Publishes a sealed state, seals a committed one and publishes it; this also completes what a crash interrupted. */
async function finish({ context, files }: RoundState, log: LogState): Promise<LogState> {
  const published = await publishSeal(context, files, log);
  return publishSeal(context, files, await sealLog(context, published));
}

async function runBatches(state: RoundState, leased: LogState): Promise<boolean> {
  const { context } = state;
  let log = await finish(state, leased);
  // Also before anything is committed: if the database is older than what was published, its intake stays unchanged.
  const seal = await context.database.inTransaction('system', (tx) => findSeal(tx, leased, log.sealNumber));
  await checkLastSealObject(context.objectStore, log, seal);
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const signed = await signStatements(context, log);
    const grown = await commitBatch(context, log);
    if (grown.leaves > log.leaves) state.committed(Number(grown.leaves - log.leaves));
    else if (signed === 0) return false;
    log = await finish(state, grown);
  }
  return true;
}

async function halt({ context }: RoundState, log: LogState, reason: string): Promise<void> {
  const halted = await context.database.inTransaction('system', (tx) => haltLog(tx, log, reason));
  if (halted) context.logger.fatal({ tenantId: log.tenantId, logId: log.logId, reason }, 'the log is halted');
  else context.logger.warn({ logId: log.logId, reason }, 'another sequencer has taken the log over');
}

/**
 * Runs one round of one log: signs, commits, seals and publishes, a few batches of it. Nothing is kept in memory: after
 * a failure at any point, the next round continues from the rows. Resolves with whether work is left; with false, at
 * once, if another sequencer has the log.
 * @throws {ClockSkewed} and every error of the database, the object store or a key; the log is then as after a crash
 * there
 */
export async function runRound(state: RoundState, ref: LogRef): Promise<boolean> {
  const log = await leaseLog(state, ref);
  if (!log) return false;
  try {
    return await runBatches(state, log);
  } catch (error) {
    if (error instanceof LogInconsistent) {
      await halt(state, log, error.message);
      return false;
    }
    if (!(error instanceof LeaseLost)) throw error;
    state.context.logger.warn({ logId: log.logId }, 'another sequencer has taken the log over');
    return false;
  } finally {
    await state.context.database
      .inTransaction('system', (tx) => releaseLease(tx, log))
      .catch((error: unknown) =>
        state.context.logger.warn({ err: error, logId: log.logId }, 'the lease was not released; it expires by itself'),
      );
  }
}
