import { massifPath, sealPath } from '../core/massif/blob-paths.js';
import { buildMassif } from '../core/massif/build-massif.js';
import { firstNode, leavesPerMassif } from '../core/massif/massif-layout.js';
import { peakStackIndices } from '../core/massif/peak-stack.js';
import type { TrieEntry } from '../core/massif/trie-entry.js';
import { leafCount, sizeOfLeaves } from '../core/mmr/leaf-count.js';
import type { Tx } from '../platform/postgres/database.js';
import { type LeafRow, leafRange } from './leaf-store.js';
import { currentGeneration, type ForkedLog, type LogRef, type LogState } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { findLog } from './log-store.js';
import { readNodeRange, readNodes } from './node-page-store.js';
import { generationId } from './seal-object.js';
import { newestSealWithin } from './seal-store.js';

/** A massif file at a published seal. */
export interface MassifView {
  readonly bytes: Uint8Array;
  /** A full massif never changes again. */
  readonly full: boolean;
  /** Of its newest leaf. */
  readonly lastIdtimestamp: bigint;
}

/** A massif's newest published seal file. */
export interface SealView {
  readonly bytes: Uint8Array;
  readonly sealedAtMs: bigint;
  /** The seal is at the massif's full size and is the last one of this massif. */
  readonly full: boolean;
}

/** Number of leaves that fill a massif of the log. */
export const massifLeaves = (log: LogState): bigint => BigInt(leavesPerMassif(log.massifHeight));

/** The massif with a state's last leaf; the state's seal belongs to it. */
export function headMassif(log: LogState, leaves: bigint): number {
  return Number((leaves - 1n) / massifLeaves(log));
}

/**
 * Key of a massif in the object store; without a fork, the same path serves it over HTTP. Each generation of a log has
 * files of its own, so that an open fork replaces nothing.
 */
export function massifObjectKey(log: ForkedLog, massif: number): string {
  return `verifiabledata/merklelogs/${massifPath(generationId(log.logId, currentGeneration(log)), massif)}`;
}

/** Key of the seal of a massif, in the same way. */
export function sealFileObjectKey(log: ForkedLog, massif: number): string {
  return `verifiabledata/merklelogs/${sealPath(generationId(log.logId, currentGeneration(log)), massif)}`;
}

/**
 * The massif file of a log at a state of this many leaves, built from pages and leaf rows, byte for byte as the massif
 * format requires. Undefined if the state does not reach into the massif.
 */
export async function massifBytes(
  tx: Tx,
  log: LogState,
  massif: number,
  leaves: bigint,
): Promise<MassifView | undefined> {
  const height = log.massifHeight;
  const first = BigInt(massif) * massifLeaves(log);
  const end = first + massifLeaves(log) < leaves ? first + massifLeaves(log) : leaves;
  if (end <= first) return undefined;
  const stack = peakStackIndices(height, massif);
  const reads = [
    leafRange(tx, log, first, end),
    readNodes(tx, log, stack),
    readNodeRange(tx, log, firstNode(height, massif), sizeOfLeaves(end)),
  ] as const;
  // Even if one fails: no query may follow the end of the transaction.
  await Promise.allSettled(reads);
  const [rows, nodeAt, nodes] = await Promise.all(reads);
  if (rows.length !== Number(end - first)) throw new LogInconsistent(`massif ${massif} lacks leaves`);
  const bytes = buildMassif({
    height,
    massif,
    entries: trieEntries(rows),
    peakStack: stack.map(nodeAt),
    nodes,
  });
  return { bytes, full: end === first + massifLeaves(log), lastIdtimestamp: rows.at(-1)!.idtimestamp };
}

function trieEntries(rows: readonly LeafRow[]): TrieEntry[] {
  return rows.map(({ trieKey, extraBytes, idtimestamp }) => {
    if (!trieKey) throw new LogInconsistent('a leaf of a massif has no trie key');
    return { key: trieKey, extraBytes: extraBytes ?? new Uint8Array(24), idtimestamp };
  });
}

/** The log and the leaf count of its newest published seal, or of the end of one of its generations. */
async function publishedMmr(tx: Tx, ref: LogRef, end?: bigint): Promise<{ log: LogState; leaves: bigint } | undefined> {
  const log = await findLog(tx, ref);
  if (log?.structure !== 'MMR_SHA256' || log.publishedNumber === 0n) return undefined;
  return { log, leaves: end ?? leafCount(log.publishedSize) };
}

/**
 * The massif file at the newest published seal; never behind a seal that a reader can have. Undefined if the log has no
 * such massif.
 * @param end leaves of a generation that ended; default: the newest one
 */
export async function massifView(tx: Tx, ref: LogRef, massif: number, end?: bigint): Promise<MassifView | undefined> {
  const published = await publishedMmr(tx, ref, end);
  return published && massifBytes(tx, published.log, massif, published.leaves);
}

/**
 * The newest published seal of a massif; undefined before its first one.
 * @param end as for `massifView`
 */
export async function sealView(tx: Tx, ref: LogRef, massif: number, end?: bigint): Promise<SealView | undefined> {
  const published = await publishedMmr(tx, ref, end);
  if (!published) return undefined;
  const first = BigInt(massif) * massifLeaves(published.log);
  const last = first + massifLeaves(published.log);
  const seal = await newestSealWithin(tx, ref, first, last < published.leaves ? last : published.leaves);
  return seal && { bytes: seal.signed, sealedAtMs: seal.sealedAtMs, full: seal.leaves === last };
}
