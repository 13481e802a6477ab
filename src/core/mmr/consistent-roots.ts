import { equalBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { climbPath } from './climb-path.js';
import { isCompleteSize } from './leaf-count.js';
import { peaks } from './peaks.js';
import { requireHashes } from './require-hashes.js';

/**
 * Returns the peaks, left to right, that the older tree's peaks lead to along their paths. If several lead to the same
 * peak, it is named once. The caller must compare them with the first peaks of the newer tree
 * (draft-bryce-cose-receipts-mmr-profile, consistent_roots).
 * @throws {VerificationError} `consistency_invalid` if size, peaks and paths do not fit each other
 */
export function consistentRoots(
  oldSize: bigint,
  oldPeaks: readonly Uint8Array[],
  paths: readonly (readonly Uint8Array[])[],
): Uint8Array[] {
  const indices = isCompleteSize(oldSize) ? peaks(oldSize) : undefined;
  if (indices?.length !== oldPeaks.length || paths.length !== oldPeaks.length)
    throw new VerificationError('consistency_invalid', 'a consistency proof does not fit the older tree');
  requireHashes('consistency_invalid', 'the older tree', oldPeaks);
  const roots: Uint8Array[] = [];
  indices.forEach((index, slot) => {
    const path = paths[slot]!;
    requireHashes('consistency_invalid', 'a consistency path', path);
    const root = climbPath(index, oldPeaks[slot]!, path);
    const last = roots.at(-1);
    if (!last || !equalBytes(last, root)) roots.push(root);
  });
  return roots;
}
