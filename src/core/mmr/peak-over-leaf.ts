import { sizeOfLeaves } from './leaf-count.js';
import { bitLength } from './uint64-bits.js';

/** A peak of a tree: its node index, and its height, which is how many siblings a leaf below it has on its way up. */
export interface Peak {
  readonly index: bigint;
  readonly height: number;
}

/**
 * The peak that a leaf lies under in a tree of `leaves` leaves. A tree has a peak for each set bit of its leaf count, and
 * the highest bit in which the leaf's index falls short of that count is its peak's.
 * @throws {RangeError} when the tree does not hold the leaf
 */
export function peakOverLeaf(leaves: bigint, leafIndex: bigint): Peak {
  if (leafIndex < 0n || leafIndex >= leaves)
    throw new RangeError(`a tree of ${leaves} leaves has no leaf ${leafIndex}`);
  const height = bitLength(leaves ^ leafIndex) - 1;
  // The tree that ends with the peak's last leaf ends with the peak.
  const end = (leaves >> BigInt(height)) << BigInt(height);
  return { index: sizeOfLeaves(end) - 1n, height };
}
