import { equalBytes } from '../../core/bytes.js';
import { appendLeaves } from '../../core/mmr/append-leaves.js';
import { leafCount, sizeOfLeaves } from '../../core/mmr/leaf-count.js';
import { isDatabaseUnavailable } from '../../platform/postgres/transient-errors.js';
import { type LogRef, type LogState, parentHash } from '../log.js';
import { LogInconsistent } from '../log-inconsistent.js';
import { findLog } from '../log-store.js';
import { headMassif, massifBytes, massifLeaves, massifObjectKey, sealFileObjectKey, sealView } from '../massif-view.js';
import { sealObjectKey } from '../seal-object.js';
import { findSeal, type SealRow } from '../seal-store.js';
import { type AuditContext, AuditStopped } from './audit-context.js';
import { auditForks } from './audit-forks.js';
import type { AuditFrontier, DerivedState } from './audit-frontier.js';
import { auditPeakReceipts, auditReceipt, auditSeal } from './audit-seals.js';
import { storedCounts } from './audit-store.js';
import type { DerivedRange } from './derive-range.js';
import { isStillSealed } from './still-sealed.js';

const HASH_BYTES = 32;

/** How much of a log was derived again. */
export interface AuditedLog extends LogRef {
  readonly name: string;
  readonly leaves: bigint;
  readonly seals: bigint;
  /** The first leaf that this run derived; those before it were derived by an earlier run. */
  readonly from: bigint;
}

/** The progress of walking a log from its first leaf to its last. */
interface Walk {
  readonly context: AuditContext;
  readonly log: LogState;
  /** How many leaves there are to walk; if the row claims more, that is reported and the smaller number is used. */
  readonly leaves: bigint;
  readonly seals: bigint;
  /** The last seal that was audited. */
  sealNumber: bigint;
  state: DerivedState;
  lastLeaf: Uint8Array | undefined;
  /** Ranges from the present state on, in their order. */
  ranges: AsyncGenerator<DerivedRange, void>;
  range: DerivedRange | undefined;
}

const NO_LEAVES: AuditFrontier = { sealNumber: 0n, size: 0n, leaves: 0n, peaks: [], lastIdtimestamp: 0n };

/**
 * Derives a log again from the rows of its events and statements and compares everything that is stored: every leaf,
 * node and seal, the signatures over peaks, the published massif files, and that nothing exists beyond them. Faults go
 * to the context. If the log grows meanwhile, it is audited up to its size at the beginning.
 * @throws {AuditStopped} when the context tells it to stop
 */
export async function auditLog(context: AuditContext, ref: LogRef): Promise<AuditedLog> {
  const { log, stored } = await context.database.inTransaction('system', async (tx) => {
    const found = await findLog(tx, ref);
    if (!found) throw new TypeError('there is no such log');
    return { log: found, stored: (await storedCounts(tx, ref)).stored };
  });
  const leaves = least(log.leaves, stored.leaves);
  const { sealNumber, size, peaks, lastIdtimestamp, leaves: from } = await firstState(context, log, leaves);
  const walk: Walk = {
    context,
    log,
    leaves,
    seals: least(log.sealNumber, stored.seals),
    sealNumber,
    state: { size, leaves: from, peaks, lastIdtimestamp },
    lastLeaf: undefined,
    ranges: derivedRanges(context, log, from, leaves),
    range: undefined,
  };
  await auditSeals(walk);
  await advance(walk, walk.leaves);
  auditRow(walk);
  await auditPeakReceipts(context, log).catch((error: unknown) =>
    rethrowUnlessMissing(walk, 'the signatures over peaks', error),
  );
  if (log.structure === 'MMR_SHA256') await auditMassifFiles(walk);
  await auditForks(context, log);
  await auditNothingBeyond(walk);
  return { ...ref, name: log.name, leaves: log.leaves, seals: log.sealNumber, from };
}

const least = (left: bigint, right: bigint) => (left < right ? left : right);

/** Where an earlier run ended if the log still has what it had then; else the empty log. */
async function firstState(context: AuditContext, log: LogState, leaves: bigint): Promise<AuditFrontier> {
  const earlier = context.progressOf?.earlier(log);
  if (!earlier) return NO_LEAVES;
  if (earlier.leaves > leaves)
    context.fault(log.name, `an earlier run of this audit saw ${earlier.leaves} leaves, now there are ${leaves}`);
  else if (await isStillSealed(context, log, earlier)) {
    for (const fault of earlier.faults) context.fault(log.name, fault);
    return earlier;
  }
  return NO_LEAVES;
}

/** The ranges of a log in their order; some more are derived while the caller works on one. */
async function* derivedRanges(
  { derive, rangesAhead, rangeLeaves }: AuditContext,
  log: LogState,
  from: bigint,
  leaves: bigint,
): AsyncGenerator<DerivedRange, void> {
  const begun: Promise<DerivedRange>[] = [];
  for (let next = from; next < leaves || begun.length > 0; ) {
    for (; begun.length < rangesAhead && next < leaves; next = least(next + rangeLeaves, leaves)) {
      const range = derive(log, next, least(next + rangeLeaves, leaves));
      // If an earlier one fails, nobody waits for this one.
      range.catch(() => undefined);
      begun.push(range);
    }
    yield await begun.shift()!;
  }
}

async function auditSeals(walk: Walk): Promise<void> {
  const { context, log } = walk;
  for (let number = walk.sealNumber + 1n; number <= walk.seals; number += 1n) {
    const seal = await context.database.inTransaction('system', (tx) => findSeal(tx, log, number));
    if (!seal || seal.leaves <= walk.state.leaves || seal.leaves > walk.leaves) {
      context.fault(log.name, `seal ${number}: ${seal ? 'does not extend the one before it' : 'is missing'}`);
      continue;
    }
    await advance(walk, seal.leaves);
    await auditSeal(context, log, seal, walk.state);
    if (walk.lastLeaf)
      await auditReceipt(context, log, seal, walk.lastLeaf).catch((error: unknown) =>
        rethrowUnlessMissing(walk, `the receipt of leaf ${seal.leaves - 1n}`, error),
      );
    auditPlaceInLog(walk, seal);
    await context.progressOf?.reached(log, { ...walk.state, sealNumber: number });
  }
}

function auditPlaceInLog({ context, log }: Walk, seal: SealRow): void {
  if (seal.sealNumber === log.sealNumber && seal.size !== log.sealedSize)
    context.fault(
      log.name,
      `its row says that seal ${seal.sealNumber} covers ${log.sealedSize} nodes, the seal covers ${seal.size}`,
    );
  if (seal.sealNumber === log.publishedNumber && seal.size !== log.publishedSize)
    context.fault(
      log.name,
      `its row says that ${log.publishedSize} nodes are published, the published seal covers ${seal.size}`,
    );
}

/** Walks on to this many leaves. */
async function advance(walk: Walk, leaves: bigint): Promise<void> {
  const { context, log } = walk;
  while (walk.state.leaves < leaves) {
    if (context.stopping?.()) throw new AuditStopped(`stopped at leaf ${walk.state.leaves} of ${log.name}`);
    walk.range = walk.range && walk.range.to > walk.state.leaves ? walk.range : await nextRange(walk);
    advanceWithin(walk, walk.range, least(walk.range.to, leaves));
    context.progress(log.name, walk.state.leaves);
  }
}

async function nextRange({ ranges, context, log }: Walk): Promise<DerivedRange> {
  const { value } = await ranges.next();
  if (!value) throw new RangeError('there are no more leaves');
  for (const fault of value.faults) context.fault(log.name, fault);
  return value;
}

/** Walks on within a range that was derived. */
function advanceWithin(walk: Walk, range: DerivedRange, end: bigint): void {
  const { context, log, state } = walk;
  const places = { from: Number(state.leaves - range.from), to: Number(end - range.from) };
  const leaves = hashes(range.leaves, places.from, places.to);
  const grown = appendLeaves(parentHash(log.structure), state.size, state.peaks, leaves);
  if (!range.nodes) context.fault(log.name, `nodes ${state.size} to ${grown.size - 1n}: some are missing`);
  const first = Number(state.size - sizeOfLeaves(range.from));
  const stored = range.nodes && hashes(range.nodes, first, first + grown.nodes.length);
  grown.nodes.forEach((node, place) => {
    if (stored && !equalBytes(node, stored[place]!))
      context.fault(log.name, `node ${state.size + BigInt(place)}: differs from what its entries give`);
  });
  const lastIdtimestamp = auditIdtimestamps(walk, range, places);
  walk.state = { size: grown.size, leaves: end, peaks: grown.peaks, lastIdtimestamp };
  walk.lastLeaf = range.underived.includes(places.to - 1) ? undefined : leaves.at(-1);
}

function hashes(bytes: Uint8Array, from: number, to: number): Uint8Array[] {
  return Array.from({ length: to - from }, (_, place) =>
    bytes.subarray((from + place) * HASH_BYTES, (from + place + 1) * HASH_BYTES),
  );
}

/** Returns the last idtimestamp up to here. */
function auditIdtimestamps(
  { context, log, state }: Walk,
  { idtimestamps, from }: DerivedRange,
  places: { readonly from: number; readonly to: number },
): bigint {
  let before = state.lastIdtimestamp;
  for (let place = places.from; place < places.to; place += 1) {
    const idtimestamp = idtimestamps[place]!;
    if (idtimestamp === 0n) continue;
    if (idtimestamp <= before) context.fault(log.name, `leaf ${from + BigInt(place)}: its idtimestamp does not rise`);
    before = idtimestamp;
  }
  return before;
}

function auditRow({ context, log, state }: Walk): void {
  if (log.size !== state.size) context.fault(log.name, `its row says ${log.size} nodes, its leaves give ${state.size}`);
  if (log.leaves > 0n && log.lastIdtimestamp !== state.lastIdtimestamp)
    context.fault(log.name, 'its row has a different idtimestamp than its last leaf');
  if (log.publishedNumber > log.sealNumber || log.sealedSize > log.size)
    context.fault(log.name, 'its row says that more is sealed or published than there is');
  if (
    (log.publishedNumber === 0n) !== (log.publishedSize === 0n) ||
    (log.sealNumber === 0n) !== (log.sealedSize === 0n)
  )
    context.fault(
      log.name,
      'its row contradicts itself: it has a seal number of 0 with a size, or a size of 0 with a seal number',
    );
}

/**
 * Full massifs are files that never change, once a seal over them is published; a growing one is served from the pages that
 * were just audited.
 */
async function auditMassifFiles(walk: Walk): Promise<void> {
  const { context, log, leaves } = walk;
  if (log.massifHeight < 1 || log.massifHeight > 64)
    return context.fault(log.name, `its row says that massifs are ${log.massifHeight} high`);
  const publishedLeaves = log.publishedSize > 0n ? leafCount(log.publishedSize) : 0n;
  const full = Number(least(leaves, publishedLeaves) / massifLeaves(log));
  // Under a seal of the massif after it. A state that is published at this moment may still get its own files.
  const published = publishedLeaves > 0n ? headMassif(log, publishedLeaves) : 0;
  for (let massif = 0; massif < full; massif += 1) {
    const stored = await context.objectStore.get(massifObjectKey(log, massif));
    const view = await context.database
      .inTransaction('system', (tx) => massifBytes(tx, log, massif, leaves))
      .catch(undefinedIfDamaged);
    if (stored && view && !equalBytes(stored, view.bytes))
      context.fault(log.name, `the file of massif ${massif} differs from the log`);
    if (massif < published) await auditPublishedMassif(walk, massif, stored);
  }
}

/** A massif below the published seal has its last seal beside it. */
async function auditPublishedMassif(
  { context, log }: Walk,
  massif: number,
  stored: Uint8Array | undefined,
): Promise<void> {
  const seal = await context.objectStore.get(sealFileObjectKey(log, massif));
  const view = await context.database.inTransaction('system', (tx) => sealView(tx, log, massif));
  if (seal && view && !equalBytes(seal, view.bytes))
    context.fault(log.name, `the file of the seal of massif ${massif} differs from its last seal`);
  // A generation writes no files of massifs that were full when it began, and backups do not copy its files.
  if (log.forks.length > 0) return;
  if (!stored) context.fault(log.name, `the file of massif ${massif} is not in the object store`);
  if (!seal) context.fault(log.name, `the file of the seal of massif ${massif} is not in the object store`);
}

/** A history that was truncated leaves something behind: rows, nodes, or a seal in the object store. */
async function auditNothingBeyond({ context, log }: Walk): Promise<void> {
  const counts = () => context.database.inTransaction('system', (tx) => storedCounts(tx, log));
  const { said, stored } = await counts();
  for (const kind of ['leaves', 'nodes', 'seals'] as const)
    if (stored[kind] !== said[kind])
      context.fault(log.name, `${stored[kind]} ${kind} are stored, its row says ${said[kind]}`);
  const next = said.seals + 1n;
  const later = await context.objectStore.get(sealObjectKey(log, next));
  // It may have grown since; a seal has its row before its object.
  if (later && (await counts()).said.seals < next)
    context.fault(log.name, `the object store has seal ${next}: the database is older than what was published`);
}

/** What a massif cannot be made of is reported while the leaves are walked. */
function undefinedIfDamaged(error: unknown): undefined {
  if (isDatabaseUnavailable(error)) throw error;
}

/** A missing node is reported while the leaves are walked. */
function rethrowUnlessMissing({ context, log }: Walk, what: string, error: unknown): void {
  if (!(error instanceof LogInconsistent)) throw error;
  context.fault(log.name, `${what}: ${error.message}`);
}
