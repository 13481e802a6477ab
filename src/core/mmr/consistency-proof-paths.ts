import { inclusionProofPath } from './inclusion-proof-path.js';
import { peaks } from './peaks.js';

/**
 * For every peak of the older tree, left to right, the indices of its inclusion path in the newer one.
 * @throws {RangeError} when a size is incomplete, or the older one larger
 */
export function consistencyProofPaths(oldSize: bigint, newSize: bigint): bigint[][] {
  if (oldSize > newSize) throw new RangeError(`a tree of ${newSize} nodes does not extend one of ${oldSize}`);
  return peaks(oldSize).map((peak) => inclusionProofPath(newSize, peak));
}
