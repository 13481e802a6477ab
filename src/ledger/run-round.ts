import type { LRUCache } from 'lru-cache';
import type { Tx } from '../platform/postgres/database.js';
import { type Frontier, readFrontier } from './frontier.js';
import { type GrownLog, growLog } from './grow-log.js';
import type { IntakeCursors } from './intake-cursors.js';
import { FIRST_ENTRY } from './intake-store.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogRef, LogState } from './log.js';
import { ClockSkewed, LeaseLost, LogInconsistent } from './log-inconsistent.js';
import { keyIdOf, logSigner } from './log-keys.js';
import { haltLog, isAsLeft, leasedLog, releaseLease, SEQUENCER, SEQUENCER_READING, takeLease } from './log-store.js';
import type { MassifFiles } from './massif-files.js';
import { publishSeal, publishStoredSeal } from './publish-seal.js';
import type { SealMemory } from './seal-memory.js';
import { checkLastSealObject, checkNoLaterGeneration, lastSealObject } from './seal-object.js';
import { sealUnsealed } from './seal-unsealed.js';
import { readBatch, type WaitingBatch } from './waiting-batch.js';

/** The round ends after this many batches, so that a busy log does not keep others waiting. */
const BATCHES = 8;
/** If the clocks of the process and the database differ by more than this, no times are assigned. */
const MAX_SKEW_MS = 5_000;

/** What a process keeps between the rounds of its logs. Losing it only costs time. */
export interface RoundState {
  readonly context: LedgerContext;
  /** Names this process in the leases it takes. */
  readonly holder: string;
  readonly files: MassifFiles;
  readonly memory: SealMemory;
  readonly cursors: IntakeCursors;
  /** Each log as this process left it, sealed and published; the log's row tells whether it is still so. */
  readonly left: LRUCache<string, LogState>;
  /** Called after each committed batch. */
  readonly committed: (leaves: number) => void;
}

/** The facts of one batch. */
interface Facts {
  readonly frontier: Frontier;
  readonly batch: WaitingBatch;
}

/** A round that begins. */
interface BegunRound {
  readonly log: LogState;
  /** Undefined if the last seal must first be completed; an error if the stored facts contradict themselves. */
  readonly facts: Facts | LogInconsistent | undefined;
  /** The object of the log's last seal, if it is being read already. */
  readonly sealObject?: Promise<Uint8Array | undefined>;
  /** The log under this round's lease; undefined until the round has it. */
  held: LogState | undefined;
}

async function readFacts(tx: Tx, { context, memory, cursors }: RoundState, log: LogState): Promise<Facts> {
  const read = (after: string) => readBatch(tx, context, log, after);
  // The statement that begins a generation has an id before all others.
  const begins = log.forks.at(-1)?.leaves === log.leaves;
  // First, because what it finds is looked up next, while the database still reads the frontier.
  const batch = begins ? read(FIRST_ENTRY) : cursors.first(log, context.clock.now(), read);
  const frontier = readFrontier(tx, context, memory, log);
  // Even if one fails: no query may follow the end of the transaction.
  await Promise.allSettled([frontier, batch]);
  return { frontier: await frontier, batch: await batch };
}

/** A log whose first batch's facts a round reads: sealed, and its seal published. */
function isComplete(log: LogState): boolean {
  return log.size === log.sealedSize && log.sealNumber === log.publishedNumber;
}

/**
 * Reads the facts in the same round trip as the lease if the log is as this process left it: the database runs the
 * queries in their order, so they see what the lease covers.
 * @param leased takes the lease; its queries are already sent
 */
async function factsOf(tx: Tx, state: RoundState, ref: LogRef, leased: Promise<LogState | undefined>) {
  const left = state.left.get(ref.logId);
  const ahead = left && readFacts(tx, state, left);
  // Even if the lease is refused: no query may follow the end of the transaction.
  await Promise.allSettled([leased, ahead]);
  const log = await leased;
  if (!log || !isComplete(log)) return undefined;
  // If the log has changed since, what was read may be missing or may contradict itself.
  if (left?.sealNumber !== log.sealNumber || left.size !== log.size || left.name !== log.name)
    return readFacts(tx, state, log);
  const { frontier, batch } = (await ahead)!;
  return { frontier: { ...frontier, log }, batch };
}

/** Takes the lease and reads the first batch's facts in the same transaction. */
async function leaseRound(state: RoundState, ref: LogRef): Promise<BegunRound | undefined> {
  const { context, holder } = state;
  const before = context.clock.now();
  let skew = 0;
  const round = await context.database.inTransaction(SEQUENCER, async (tx) => {
    const lease = takeLease(tx, ref, holder).then((taken) => {
      if (taken) skew = Math.max(before - taken.databaseMs, taken.databaseMs - context.clock.now());
      return taken?.log;
    });
    // The lease must be stored even then: only its holder can halt the log.
    const facts = await factsOf(tx, state, ref, lease).catch((error: unknown) => {
      if (error instanceof LogInconsistent) return error;
      throw error;
    });
    const log = await lease;
    return log && { log, facts, held: log };
  });
  if (!round || skew <= MAX_SKEW_MS) return round;
  await context.database.inTransaction('system', (tx) => releaseLease(tx, round.log));
  throw clockSkewed(skew);
}

function clockSkewed(skew: number): ClockSkewed {
  return new ClockSkewed(
    `the clock differs from the database's by ${Math.round(skew / 1_000)} s: the sequencer does not run`,
  );
}

/**
 * Begins a round of a log that nobody has touched since this process left it: only reads, because the lease is taken with
 * the first batch. Undefined if the round must begin with the lease.
 * @throws {ClockSkewed}
 */
async function beginAhead(state: RoundState, ref: LogRef): Promise<BegunRound | undefined> {
  const { context, holder } = state;
  const left = state.left.get(ref.logId);
  if (!left) return undefined;
  const before = context.clock.now();
  // Beside the database: the two are compared before anything is committed.
  const sealObject = lastSealObject(context.objectStore, left);
  sealObject.catch(() => undefined);
  const found = await context.database.inTransaction(SEQUENCER_READING, async (tx) => {
    const facts = readFacts(tx, state, left);
    const standing = isAsLeft(tx, left, holder).then((as) => {
      return as && Math.max(before - as.databaseMs, as.databaseMs - context.clock.now());
    });
    // Even if one fails: no query may follow the end of the transaction.
    await Promise.allSettled([standing, facts]);
    const skew = await standing;
    return skew === undefined ? undefined : { skew, facts: await facts };
  });
  if (!found) return undefined;
  if (found.skew > MAX_SKEW_MS) throw clockSkewed(found.skew);
  return { log: left, facts: found.facts, sealObject, held: undefined };
}

/** Completes the last seal, then reads the first batch's facts. */
async function recoverFacts(state: RoundState, leased: LogState): Promise<Facts> {
  const { context, files, memory } = state;
  const published = await publishStoredSeal(context, files, leased);
  const log = await publishStoredSeal(context, files, await sealUnsealed(context, memory, published));
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
  const sealObject = round.sealObject ?? lastSealObject(context.objectStore, frontier.log);
  await checkLastSealObject(sealObject, frontier.log, frontier.seal);
  for (let count = 1; batch.entries.length > 0; count += 1) {
    const before = frontier.log;
    const grown = await growLog(context, state.memory, frontier, batch, { holder, takesLease: !round.held });
    const { log: after, keyId } = grown.frontier;
    const hasGrown = after.leaves > before.leaves;
    if (hasGrown) {
      round.held = after;
      state.committed(Number(after.leaves - before.leaves));
    }
    cursors.passed(before, batch.entries.at(-1)!.entryId);
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
  { context, files, left }: RoundState,
  { frontier, sealed, staged }: GrownLog,
  ends: boolean,
): Promise<Frontier> {
  try {
    const lease = ends ? 'ended' : 'renewed';
    const log = await publishSeal(context, files, frontier.log, frontier.seal!, { lease, batch: sealed, staged });
    left.set(log.logId, log);
    return { ...frontier, log };
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
 * @throws {ClockSkewed} and every error of the database, the object store or a key; the log is then as after a crash
 * there
 */
export async function runRound(state: RoundState, ref: LogRef): Promise<boolean> {
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
