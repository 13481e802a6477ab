import { concatBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { consistentRoots } from '../mmr/consistent-roots.js';
import { isCompleteSize } from '../mmr/leaf-count.js';
import { peaks as peakIndices } from '../mmr/peaks.js';
import { type MmrConsistencyReceipt, readMmrConsistencyReceipt } from '../receipt/mmr-receipt.js';
import { type Rfc9162ConsistencyReceipt, readRfc9162ConsistencyReceipt } from '../receipt/rfc9162-receipt.js';
import { rfc9162VerifyConsistency } from '../rfc9162/rfc9162-consistency.js';
import { type ReceiptTrust, verifyReceiptSignature } from './verify-receipt.js';

/**
 * Checks that the tree with `root2` extends the one with `root1` and that the log signed the newer root. Both roots are
 * the caller's, from checkpoints that it holds.
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
 * The peaks of the newer log, left to right, that the older log's peaks and a proof lead to.
 * @throws {VerificationError} `consistency_invalid` when proof, sizes and peaks do not fit each other
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
    paths.length === oldPeaks.length;
  if (!fits) throw new VerificationError('consistency_invalid', 'a consistency proof does not fit its sizes');
  const newPeaks = [...consistentRoots(size1, oldPeaks, paths), ...rightPeaks];
  if (newPeaks.length !== peakIndices(size2).length)
    throw new VerificationError('consistency_invalid', 'a consistency proof leads to the wrong number of peaks');
  return newPeaks;
}

/**
 * Checks that an MMR log extends the state with `oldPeaks` and that the log signed the newer peaks, joined left to right.
 * Resolves with the newer peaks: the next state to hold on to.
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
