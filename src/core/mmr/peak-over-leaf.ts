import { sizeOfLeaves } from './leaf-count.js';
import { bitLength } from './uint64-bits.js';

/** A peak of a tree: its node index, and its height. A leaf below it has that many siblings on its way up. */
export interface Peak {
  readonly index: bigint;
  readonly height: number;
}

/**
 * Returns the peak over a leaf in a tree of `leaves` leaves. A tree has a peak for each set bit of its leaf count; the
 * highest bit in which the leaf's index differs from that count belongs to the leaf's peak.
 * @throws {RangeError} if the tree does not hold the leaf
 */
export function peakOverLeaf(leaves: bigint, leafIndex: bigint): Peak {
  if (leafIndex < 0n || leafIndex >= leaves)
    throw new RangeError(`a tree of ${leaves} leaves has no leaf ${leafIndex}`);
  const height = bitLength(leaves ^ leafIndex) - 1;
  // The tree that ends with the peak's last leaf ends with the peak.
  const end = (leaves >> BigInt(height)) << BigInt(height);
  return { index: sizeOfLeaves(end) - 1n, height };
}
