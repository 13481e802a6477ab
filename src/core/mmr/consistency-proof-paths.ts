import { inclusionProofPath } from './inclusion-proof-path.js';
import { peaks } from './peaks.js';

/**
 * Returns, for every peak of the older tree from left to right, the indices of its inclusion path in the newer tree.
 * @throws {RangeError} if a size is incomplete, or the older tree is larger
 */
export function consistencyProofPaths(oldSize: bigint, newSize: bigint): bigint[][] {
  if (oldSize > newSize) throw new RangeError(`a tree of ${newSize} nodes does not extend one of ${oldSize}`);
  return peaks(oldSize).map((peak) => inclusionProofPath(newSize, peak));
}
