import { beginAhead, beginEarly, leaseRound, readFacts } from './begin-round.js';
import type { ComingStatements } from './coming-statements.js';
import type { Frontier } from './frontier.js';
import { type GrownLog, growLog } from './grow-log.js';
import type { LogRef, LogState } from './log.js';
import { LeaseLost, LogInconsistent } from './log-inconsistent.js';
import { keyIdOf, logSigner } from './log-keys.js';
import { haltLog, leasedLog, releaseLease, SEQUENCER, SEQUENCER_READING } from './log-store.js';
import { publishSeal, publishStoredSeal } from './publish-seal.js';
import type { BegunRound, Facts, RoundState } from './round-state.js';
import { checkLastSealObject, checkNoLaterGeneration, lastSealObject } from './seal-object.js';
import { sealUnsealed } from './seal-unsealed.js';
import { readBatch, type WaitingBatch } from './waiting-batch.js';

/** The round ends after this many batches, so that a busy log does not keep others waiting. */
const BATCHES = 8;

/** Completes the last seal, then reads the first batch's facts. */
async function recoverFacts(state: RoundState, leased: LogState): Promise<Facts> {
  const { context, memory } = state;
  const published = await publishStoredSeal(context, leased);
  const log = await publishStoredSeal(context, await sealUnsealed(context, memory, published));
  return context.database.inTransaction(SEQUENCER, async (tx) => readFacts(tx, state, await leasedLog(tx, log)));
}

/** Works off a few batches, and resolves with whether work is left. A round without a lease takes it with its first batch. */
async function runBatches(state: RoundState, round: BegunRound): Promise<boolean> {
  const { context, cursors, holder } = state;
  const { log, facts } = round;
  if (facts instanceof LogInconsistent) throw facts;
  // The first round of this process.
  if (!state.left.has(log.logId)) await checkNoLaterGeneration(context.objectStore, log);
  let { frontier, batch } = facts ?? (await recoverFacts(state, log));
  state.left.set(log.logId, frontier.log);
  // Before anything is committed: if the database is older than what was published, its intake stays unchanged.
  if (!batch.came) {
    const sealObject = round.sealObject ?? lastSealObject(context.objectStore, frontier.log);
    await checkLastSealObject(sealObject, frontier.log, frontier.seal);
  }
  for (let count = 1; batch.entries.length > 0; count += 1) {
    const before = frontier.log;
    const grown = await growLog(context, state.memory, frontier, batch, { holder, takesLease: !round.held });
    const { log: after, keyId } = grown.frontier;
    const hasGrown = after.leaves > before.leaves;
    if (hasGrown) {
      round.held = after;
      state.committed(Number(after.leaves - before.leaves));
    }
    // Of those that were coming, nothing is known about what waits before them.
    if (!batch.came) cursors.passed(before, batch.entries.at(-1)!.entryId);
    const ends = !batch.more || count === BATCHES || keyIdOf(logSigner(context, before), before) !== keyId;
    if (hasGrown) {
      frontier = await publishGrown(state, grown, ends);
      if (ends) round.held = undefined;
    }
    if (ends) return batch.more;
    batch = await nextBatch(state, frontier.log, batch.entries.at(-1)!.entryId);
  }
  return false;
}

async function publishGrown(
  { context, left, frontiers }: RoundState,
  { frontier, sealed, staged }: GrownLog,
  ends: boolean,
): Promise<Frontier> {
  try {
    const lease = ends ? 'ended' : 'renewed';
    const log = await publishSeal(context, frontier.log, frontier.seal!, { lease, batch: sealed, staged });
    const published = { ...frontier, log };
    left.set(log.logId, log);
    if (log.structure === 'RFC9162_SHA256') frontiers.set(log.logId, published);
    return published;
  } catch (error) {
    await staged?.discard();
    throw error;
  }
}

function nextBatch({ context }: RoundState, log: LogState, after: string): Promise<WaitingBatch> {
  return context.database.inTransaction(SEQUENCER_READING, (tx) => readBatch(tx, context, log, after));
}

async function halt({ context }: RoundState, log: LogState, reason: string): Promise<void> {
  const halted = await context.database.inTransaction('system', (tx) => haltLog(tx, log, reason));
  if (halted)
    context.logger.fatal(
      { tenantId: log.tenantId, logId: log.logId, reason },
      'the log is halted and signs nothing more: run "vcon-archivist logs"',
    );
  else context.logger.warn({ logId: log.logId, reason }, 'another sequencer has taken the log over');
}

async function release({ context }: RoundState, log: LogState): Promise<void> {
  await context.database
    .inTransaction('system', (tx) => releaseLease(tx, log))
    .catch((error: unknown) =>
      context.logger.warn({ err: error, logId: log.logId }, 'the lease was not released; it expires by itself'),
    );
}

/** What a begun round came to: undefined if it must begin again with the lease. */
async function finishRound(state: RoundState, round: BegunRound): Promise<boolean | undefined> {
  try {
    return await runBatches(state, round);
  } catch (error) {
    // As after a crash: the rows tell how the log is.
    state.left.delete(round.log.logId);
    if (error instanceof LogInconsistent && !round.held) return undefined;
    if (error instanceof LogInconsistent) await halt(state, round.held!, error.message);
    else if (error instanceof LeaseLost) {
      const { logger } = state.context;
      const named = { logId: round.log.logId };
      if (round.held) logger.warn(named, 'another sequencer has taken the log over');
      // Nothing was lost: two healthy sequencers race for a lease whenever both are told of the same entries.
      else logger.debug(named, 'another sequencer was quicker');
      return round.held ? false : undefined;
    } else throw error;
    return false;
  } finally {
    if (round.held) await release(state, round.held);
  }
}

/**
 * Runs one round of one log: signs, commits, seals and publishes, a few batches of it. What is kept in memory only
 * saves work: after a failure at any point, the next round continues from the rows. Resolves with whether work is left;
 * with false, at once, if another sequencer has the log.
 * @param coming what the round begins with, before it is known whether it waits; only if it does, the round reads the
 * intake where it cannot begin with that
 * @throws {ClockSkewed} and every error of the database, the object store or a key; the log is then as after a crash
 * there
 */
export async function runRound(state: RoundState, ref: LogRef, coming?: ComingStatements): Promise<boolean> {
  const early = coming && beginEarly(state, ref, coming);
  const earlyMore = early && (await finishRound(state, early));
  if (earlyMore !== undefined) return earlyMore;
  if (coming && !(await coming.committed)) return false;
  const ahead = await beginAhead(state, ref).catch((error: unknown) => {
    // Only the holder of the lease can halt the log.
    if (error instanceof LogInconsistent) return undefined;
    throw error;
  });
  const more = ahead && (await finishRound(state, ahead));
  if (more !== undefined) return more;
  const round = await leaseRound(state, ref);
  return round ? (await finishRound(state, round)) === true : false;
}
