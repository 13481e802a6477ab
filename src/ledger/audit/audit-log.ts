import { equalBytes } from '../../core/bytes.js';
import { appendLeaves } from '../../core/mmr/append-leaves.js';
import { sizeOfLeaves } from '../../core/mmr/leaf-count.js';
import { type LeafRow, leafRange } from '../leaf-store.js';
import { type LogRef, type LogState, parentHash } from '../log.js';
import { LogInconsistent } from '../log-inconsistent.js';
import { findLog } from '../log-store.js';
import { massifBytes, massifLeaves, massifObjectKey } from '../massif-view.js';
import { readNodeRange } from '../node-page-store.js';
import { sealObjectKey } from '../seal-object.js';
import { findSeal, type SealRow } from '../seal-store.js';
import { type AuditContext, AuditStopped } from './audit-context.js';
import { auditForks } from './audit-forks.js';
import type { AuditFrontier, DerivedState } from './audit-frontier.js';
import { auditPeakReceipts, auditReceipt, auditSeal } from './audit-seals.js';
import { storedCounts } from './audit-store.js';

const CHUNK = 512n;

/** How much of a log was derived again. */
export interface AuditedLog extends LogRef {
  readonly name: string;
  readonly leaves: bigint;
  readonly seals: bigint;
}

/** The progress of walking a log from its first leaf to its last. */
interface Walk {
  readonly context: AuditContext;
  readonly log: LogState;
  /** How many leaves there are to walk; if the row claims more, that is reported and the smaller number is used. */
  readonly leaves: bigint;
  readonly seals: bigint;
  state: DerivedState;
  lastLeaf: Uint8Array | undefined;
}

/**
 * Derives a log again from the rows of its events and statements and compares everything that is stored: every leaf,
 * node and seal, the signatures over peaks, the published massif files, and that nothing exists beyond them. Faults go
 * to the context. If the log grows meanwhile, it is audited up to its size at the beginning.
 */
export async function auditLog(context: AuditContext, ref: LogRef): Promise<AuditedLog> {
  const { log, stored } = await context.database.inTransaction('system', async (tx) => {
    const found = await findLog(tx, ref);
    if (!found) throw new TypeError('there is no such log');
    return { log: found, stored: (await storedCounts(tx, ref)).stored };
  });
  const walk: Walk = {
    context,
    log,
    leaves: least(log.leaves, stored.leaves),
    seals: least(log.sealNumber, stored.seals),
    state: { size: 0n, leaves: 0n, peaks: [], lastIdtimestamp: 0n },
    lastLeaf: undefined,
  };
  await auditSeals(walk);
  await advance(walk, walk.leaves);
  auditRow(walk);
  await auditPeakReceipts(context, log).catch((error: unknown) => rethrowUnlessMissing(walk, error));
  if (log.structure === 'MMR_SHA256') await auditMassifFiles(walk);
  await auditForks(context, log);
  await auditNothingBeyond(walk);
  return { ...ref, name: log.name, leaves: log.leaves, seals: log.sealNumber };
}

const least = (left: bigint, right: bigint) => (left < right ? left : right);

async function auditSeals(walk: Walk): Promise<void> {
  const { context, log } = walk;
  for (let number = 1n; number <= walk.seals; number += 1n) {
    const seal = await context.database.inTransaction('system', (tx) => findSeal(tx, log, number));
    if (!seal || seal.leaves <= walk.state.leaves || seal.leaves > walk.leaves) {
      context.fault(log.name, `seal ${number}: ${seal ? 'does not extend the one before it' : 'is not there'}`);
      continue;
    }
    await advance(walk, seal.leaves);
    await auditSeal(context, log, seal, walk.state);
    if (walk.lastLeaf)
      await auditReceipt(context, log, seal, walk.lastLeaf).catch((e) => rethrowUnlessMissing(walk, e));
    auditPlaceInLog(walk, seal);
  }
}

function auditPlaceInLog({ context, log }: Walk, seal: SealRow): void {
  if (seal.sealNumber === log.sealNumber && seal.size !== log.sealedSize)
    context.fault(log.name, `its row says that seal ${seal.sealNumber} is over ${log.sealedSize} nodes`);
  if (seal.sealNumber === log.publishedNumber && seal.size !== log.publishedSize)
    context.fault(log.name, `its row says that ${log.publishedSize} nodes are published`);
}

/** Walks on to this many leaves, one chunk per transaction. */
async function advance(walk: Walk, leaves: bigint): Promise<void> {
  while (walk.state.leaves < leaves) {
    const end = walk.state.leaves + CHUNK < leaves ? walk.state.leaves + CHUNK : leaves;
    await advanceChunk(walk, end);
    walk.context.progress(walk.log.name, walk.state.leaves);
  }
}

async function advanceChunk(walk: Walk, end: bigint): Promise<void> {
  const { context, log, state } = walk;
  const { rows, derived, nodes } = await context.database.inTransaction('system', async (tx) => {
    const found = await leafRange(tx, log, state.leaves, end);
    return {
      rows: found,
      derived: await deriveLeaves(tx, context, log, found),
      nodes: await readNodeRange(tx, log, state.size, sizeOfLeaves(end)).catch(() => undefined),
    };
  });
  const inOrder = rows.length === Number(end - state.leaves) && rows.every(isAt(state.leaves));
  if (!inOrder) context.fault(log.name, `leaves ${state.leaves} to ${end - 1n}: some are not there`);
  auditIdtimestamps(walk, rows);
  const leaves = rows.map((_, place) => derived[place] ?? new Uint8Array(32));
  const grown = appendLeaves(parentHash(log.structure), state.size, state.peaks, padded(leaves, end - state.leaves));
  if (!nodes) context.fault(log.name, `nodes ${state.size} to ${grown.size - 1n}: some are not there`);
  grown.nodes.forEach((node, place) => {
    if (nodes && !equalBytes(node, nodes[place]!))
      context.fault(log.name, `node ${state.size + BigInt(place)}: is not what its entries make`);
  });
  const lastIdtimestamp = rows.at(-1)?.idtimestamp ?? state.lastIdtimestamp;
  walk.state = { size: grown.size, leaves: end, peaks: grown.peaks, lastIdtimestamp };
  walk.lastLeaf = derived.at(-1);
}

const isAt = (first: bigint) => (row: LeafRow, place: number) => row.leafIndex === first + BigInt(place);

function padded(leaves: readonly Uint8Array[], count: bigint): Uint8Array[] {
  return Array.from({ length: Number(count) }, (_, place) => leaves[place] ?? new Uint8Array(32));
}

function auditIdtimestamps({ context, log, state }: Walk, rows: readonly LeafRow[]): void {
  let before = state.lastIdtimestamp;
  for (const { idtimestamp, leafIndex } of rows) {
    if (idtimestamp <= before) context.fault(log.name, `leaf ${leafIndex}: its idtimestamp does not rise`);
    before = idtimestamp;
  }
}

function auditRow({ context, log, state }: Walk): void {
  if (log.size !== state.size) context.fault(log.name, `its row says ${log.size} nodes, its leaves make ${state.size}`);
  if (log.leaves > 0n && log.lastIdtimestamp !== state.lastIdtimestamp)
    context.fault(log.name, 'its row has another idtimestamp than its last leaf');
  if (log.publishedNumber > log.sealNumber || log.sealedSize > log.size)
    context.fault(log.name, 'its row says that more is sealed or published than there is');
  if (
    (log.publishedNumber === 0n) !== (log.publishedSize === 0n) ||
    (log.sealNumber === 0n) !== (log.sealedSize === 0n)
  )
    context.fault(log.name, 'its row says that nothing is sealed or published, and how much');
}

/** Full massifs are files that never change; the growing one is served from the pages that were just audited. */
async function auditMassifFiles({ context, log, leaves }: Walk): Promise<void> {
  if (log.massifHeight < 1 || log.massifHeight > 64)
    return context.fault(log.name, `its row says that massifs are ${log.massifHeight} high`);
  const full = Number(leaves / massifLeaves(log));
  for (let massif = 0; massif < full; massif += 1) {
    const stored = await context.objectStore.get(massifObjectKey(log, massif));
    const view = await context.database
      .inTransaction('system', (tx) => massifBytes(tx, log, massif, leaves))
      .catch(() => undefined);
    if (stored && view && !equalBytes(stored, view.bytes))
      context.fault(log.name, `the file of massif ${massif} is not what the log makes`);
  }
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

/** A missing node is reported while the leaves are walked. */
function rethrowUnlessMissing(walk: Walk, error: unknown): void {
  if (!(error instanceof LogInconsistent)) throw error;
  walk.context.fault(walk.log.name, error.message);
}
