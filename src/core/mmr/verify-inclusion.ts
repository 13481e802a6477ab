import { equalBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { includedRoot } from './included-root.js';
import { inclusionProofPath } from './inclusion-proof-path.js';
import { indexHeight } from './index-height.js';
import { isCompleteSize, leafCount } from './leaf-count.js';
import { peakSlot } from './peak-slot.js';
import { popcount } from './uint64-bits.js';

/**
 * Checks that a node with this index and value is in the tree of `size` nodes with these peaks (left to right), by a path
 * of exactly the length that its place has.
 * @throws {VerificationError} `inclusion_path_invalid`
 */
export function verifyInclusion(
  size: bigint,
  peaks: readonly Uint8Array[],
  index: bigint,
  value: Uint8Array,
  path: readonly Uint8Array[],
): void {
  if (!isCompleteSize(size) || index < 0n || index >= size)
    throw new VerificationError('inclusion_path_invalid', `a complete tree of ${size} nodes has no node ${index}`);
  if (peaks.length !== popcount(leafCount(size)))
    throw new VerificationError(
      'inclusion_path_invalid',
      `a tree of ${size} nodes does not have ${peaks.length} peaks`,
    );
  const length = inclusionProofPath(size, index).length;
  const peak = peaks[peakSlot(leafCount(size), indexHeight(index) + length)];
  if (path.length !== length || !peak || !equalBytes(includedRoot(index, value, path), peak))
    throw new VerificationError('inclusion_path_invalid', `the path of node ${index} does not lead to its peak`);
}
