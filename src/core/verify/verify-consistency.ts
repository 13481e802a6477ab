import { concatBytes, equalBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import type { Massif } from '../massif/read-massif.js';
import type { TrieEntry } from '../massif/trie-entry.js';
import { consistencyProofPaths } from '../mmr/consistency-proof-paths.js';
import { consistentRoots } from '../mmr/consistent-roots.js';
import { isCompleteSize, leafCount } from '../mmr/leaf-count.js';
import { peaks as peakIndices } from '../mmr/peaks.js';
import { type MmrConsistencyReceipt, readMmrConsistencyReceipt } from '../receipt/mmr-receipt.js';
import { type Rfc9162ConsistencyReceipt, readRfc9162ConsistencyReceipt } from '../receipt/rfc9162-receipt.js';
import type { Seal } from '../receipt/seal.js';
import { readSeal } from '../receipt/seal.js';
import { rfc9162VerifyConsistency } from '../rfc9162/rfc9162-consistency.js';
import { sealProof } from './proofs.js';
import { createVerdict, type Verdict } from './verdict.js';
import { checkSameLog, peaksAt, recomputeMassifs, verifySealOfMassif } from './verify-log.js';
import { recomputeMassif } from './verify-massif.js';
import { type ReceiptTrust, verifyReceiptSignature } from './verify-receipt.js';

/**
 * Checks that the tree with `root2` extends the one with `root1`, and that the log signed the newer root. The caller
 * must have both roots from checkpoints of its own.
 * @throws {VerificationError} `consistency_invalid` and those of any receipt
 */
export async function verifyRfc9162ConsistencyReceipt(
  receipt: Uint8Array,
  root1: Uint8Array,
  root2: Uint8Array,
  trust: ReceiptTrust,
): Promise<Rfc9162ConsistencyReceipt> {
  const read = readRfc9162ConsistencyReceipt(receipt);
  rfc9162VerifyConsistency(read.size1, root1, read.size2, root2, read.path);
  await verifyReceiptSignature(read, root2, trust, 'the consistency receipt');
  return read;
}

/**
 * Returns the peaks of the newer log, left to right, that the older log's peaks and a proof lead to. The length of each
 * path and the number of right peaks must be those of a log with the newer size.
 * @throws {VerificationError} `consistency_invalid` if proof, sizes and peaks do not fit each other
 */
export function mmrConsistencyPeaks(
  proof: Pick<MmrConsistencyReceipt, 'size1' | 'size2' | 'paths' | 'rightPeaks'>,
  oldPeaks: readonly Uint8Array[],
): Uint8Array[] {
  const { size1, size2, paths, rightPeaks } = proof;
  const fits =
    size1 <= size2 &&
    isCompleteSize(size1) &&
    isCompleteSize(size2) &&
    peakIndices(size1).length === oldPeaks.length &&
    paths.length === oldPeaks.length &&
    consistencyProofPaths(size1, size2).every(({ length }, place) => length === paths[place]!.length);
  if (!fits) throw new VerificationError('consistency_invalid', 'a consistency proof does not fit its sizes');
  const newIndices = peakIndices(size2);
  // A peak begins where the one to its left ends.
  const reached = newIndices.filter((_, place) => (newIndices[place - 1] ?? -1n) + 1n < size1).length;
  const roots = consistentRoots(size1, oldPeaks, paths);
  if (roots.length !== reached || rightPeaks.length !== newIndices.length - reached)
    throw new VerificationError('consistency_invalid', 'a consistency proof leads to the wrong number of peaks');
  return [...roots, ...rightPeaks];
}

/**
 * Checks that an MMR log extends the state with `oldPeaks`, and that the log signed the newer peaks. Resolves with the
 * newer peaks, left to right: the next state to keep.
 * No signature covers the sizes: the caller must compare `size1` with the state that it has, and the proof does not
 * show the heights of right peaks in `size2` (docs/formats/mmr.md).
 * @throws {VerificationError} `consistency_invalid` and those of any receipt
 */
export async function verifyMmrConsistencyReceipt(
  receipt: Uint8Array,
  oldPeaks: readonly Uint8Array[],
  trust: ReceiptTrust,
): Promise<{ readonly receipt: MmrConsistencyReceipt; readonly peaks: readonly Uint8Array[] }> {
  const read = readMmrConsistencyReceipt(receipt);
  const peaks = mmrConsistencyPeaks(read, oldPeaks);
  await verifyReceiptSignature(read, concatBytes(...peaks), trust, 'the consistency receipt');
  return { receipt: read, peaks };
}

/** A sealed state of an MMR log, with the massif file that its peaks are read from, as a verifier kept it. */
export interface HeldState {
  readonly seal: Uint8Array;
  /** The massif file at that time; without it the newer files have to hold the peaks. */
  readonly massif?: Uint8Array | undefined;
}

/**
 * Checks that a newer sealed state of an MMR log extends an older one. `massifs` are consecutive files, at least from the
 * one in which the older state ends to the one in which the newer state ends; every node of them is recomputed. Resolves
 * with that extension as the one claim.
 * @throws {VerificationError} `consistency_invalid` for a fork or a rollback, and those of `proveLog`
 */
export async function verifyConsistency(
  older: HeldState,
  newer: { readonly seal: Uint8Array; readonly massifs: readonly Uint8Array[] },
  trust: ReceiptTrust,
): Promise<Verdict> {
  const massifs = recomputeMassifs(newer.massifs);
  const { size } = readSeal(older.seal).state;
  const first = massifs.find((massif) => size <= massif.size) ?? massifs[0];
  const last = massifs.at(-1);
  if (!first || !last) throw new VerificationError('insufficient_data', 'there are no massif files');
  const held = older.massif ? recomputeMassif(older.massif) : first;
  const [from, to] = [
    await verifySealOfMassif(older.seal, held, trust),
    await verifySealOfMassif(newer.seal, last, trust),
  ];
  checkNotOlder(to, from);
  checkHolds(first, held, from.state.size);
  const facts = { older_size: String(from.state.size), size: String(to.state.size) };
  const by = [sealProof(from), sealProof(to)];
  return createVerdict({ claims: [{ kind: 'extension', piece: 'log', facts, by }] });
}

/**
 * Checks that a seal is of the same log as an older one, and that its state is not older.
 * @throws {VerificationError} `log_mismatch`, `consistency_invalid`
 */
export function checkNotOlder(newer: Seal, older: Seal): void {
  checkSameLog(newer, older);
  if (newer.state.size < older.state.size || newer.state.sealedAtMs < older.state.sealedAtMs)
    throw new VerificationError('consistency_invalid', 'the newer seal is over an older state: a rollback');
}

/**
 * Checks that a massif still holds what was sealed in it before: the same nodes, and beside its own leaves the same
 * keys and idtimestamps, which no node covers.
 * @throws {VerificationError} `consistency_invalid`, `insufficient_data` if the older state does not end in it
 */
export function checkHolds(now: Massif, held: Massif, size: bigint): void {
  const [before, peaks] = [peaksAt(held, size), peaksAt(now, size)];
  if (now.height !== held.height || !before.every((peak, place) => equalBytes(peak, peaks[place]!)))
    throw new VerificationError('consistency_invalid', `the log holds other nodes below size ${size}: a fork`);
  const sealed = Number(leafCount(size) - held.firstLeaf);
  const changed = held.entries.slice(0, sealed).findIndex((entry, place) => !sameEntry(entry, now.entries[place]!));
  if (changed >= 0)
    throw new VerificationError(
      'consistency_invalid',
      `the log has leaf ${held.firstLeaf + BigInt(changed)} under another key or time than before`,
    );
}

function sameEntry(left: TrieEntry, right: TrieEntry): boolean {
  return (
    left.idtimestamp === right.idtimestamp &&
    equalBytes(left.key, right.key) &&
    equalBytes(left.extraBytes, right.extraBytes)
  );
}
