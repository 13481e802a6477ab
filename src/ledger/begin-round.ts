import type { Tx } from '../platform/postgres/database.js';
import { type ComingStatements, comingBatch } from './coming-statements.js';
import { type Frontier, readFrontier } from './frontier.js';
import { isFrontier } from './frontier-store.js';
import { FIRST_ENTRY } from './intake-store.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogRef, LogState } from './log.js';
import { ClockSkewed, LeaseLost, LogInconsistent } from './log-inconsistent.js';
import { isAsLeft, releaseLease, SEQUENCER, SEQUENCER_READING, takeLease } from './log-store.js';
import type { BegunRound, Facts, RoundState } from './round-state.js';
import { checkLastSealObject, lastSealObject } from './seal-object.js';
import { readBatch } from './waiting-batch.js';

/** If the clocks of the process and the database differ by more than this, no times are assigned. */
const MAX_SKEW_MS = 5_000;

/** Whether the next leaf is the statement that begins a generation. */
function beginsGeneration(log: LogState): boolean {
  return log.forks.at(-1)?.leaves === log.leaves;
}

/** Reads the facts of a log's next batch. */
export async function readFacts(tx: Tx, { context, memory, cursors }: RoundState, log: LogState): Promise<Facts> {
  const read = (after: string) => readBatch(tx, context, log, after);
  // First, because what it finds is looked up next, while the database still reads the frontier. The statement that begins
  // a generation has an id before all others.
  const batch = beginsGeneration(log) ? read(FIRST_ENTRY) : cursors.first(log, context.clock.now(), read);
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
export async function leaseRound(state: RoundState, ref: LogRef): Promise<BegunRound | undefined> {
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

/** @throws {ClockSkewed} for a time that the database read between `before` and now */
function requireSameClock({ clock }: LedgerContext, before: number, databaseMs: number): void {
  const skew = Math.max(before - databaseMs, databaseMs - clock.now());
  if (skew > MAX_SKEW_MS) throw clockSkewed(skew);
}

/**
 * Begins a round of a log that nobody has touched since this process left it: only reads, because the lease is taken with
 * the first batch. Undefined if the round must begin with the lease.
 * @throws {ClockSkewed}
 */
export async function beginAhead(state: RoundState, ref: LogRef): Promise<BegunRound | undefined> {
  const { context, holder } = state;
  const left = state.left.get(ref.logId);
  if (!left) return undefined;
  const before = context.clock.now();
  // Beside the database: the two are compared before anything is committed.
  const sealObject = lastSealObject(context.objectStore, left);
  sealObject.catch(() => undefined);
  const facts = await context.database.inTransaction(SEQUENCER_READING, async (tx) => {
    const reading = readFacts(tx, state, left);
    const standing = isAsLeft(tx, left, holder).then((as) => {
      if (as) requireSameClock(context, before, as.databaseMs);
      return as !== undefined;
    });
    // Even if one fails: no query may follow the end of the transaction.
    await Promise.allSettled([standing, reading]);
    return (await standing) ? reading : undefined;
  });
  return facts && { log: left, facts, sealObject, held: undefined };
}

/**
 * Begins a round with statements that are coming, on the frontier that this process has left. What a round reads first is
 * read meanwhile: nothing is stored before all of it was found to be the same. Undefined if the round must read first.
 */
export function beginEarly(state: RoundState, ref: LogRef, coming: ComingStatements): BegunRound | undefined {
  const frontier = state.frontiers.get(ref.logId);
  if (!frontier || frontier.log !== state.left.get(ref.logId) || beginsGeneration(frontier.log)) return undefined;
  const came = Promise.all([coming.committed, checkAsLeft(state, frontier)]).then(([are]) => are);
  // A round that fails before it stores anything does not wait for it.
  came.catch(() => undefined);
  return { log: frontier.log, facts: { frontier, batch: comingBatch(frontier.log, coming, came) }, held: undefined };
}

/**
 * Checks that the database and the object store have a log as this process left it.
 * @throws {LeaseLost} if the database has something else
 * @throws {LogInconsistent} if the object store has
 * @throws {ClockSkewed}
 */
async function checkAsLeft({ context, holder }: RoundState, left: Frontier): Promise<void> {
  const before = context.clock.now();
  const [found] = await Promise.all([
    context.database.readAtOnce(SEQUENCER_READING, (tx) => isFrontier(tx, left, holder)),
    checkLastSealObject(lastSealObject(context.objectStore, left.log), left.log, left.seal),
  ]);
  if (!found) throw new LeaseLost('the log is not as this process left it');
  requireSameClock(context, before, found.databaseMs);
}
