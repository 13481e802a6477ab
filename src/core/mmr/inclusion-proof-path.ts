import { isCompleteSize, leafCount, leafIndex } from './leaf-count.js';
import { type Peak, peakOverLeaf } from './peak-over-leaf.js';

/**
 * Returns the indices of the siblings from a node up to its peak in a tree of `size` nodes, lowest first; none if the
 * node is a peak.
 * @throws {RangeError} if the size is incomplete, or the tree does not hold the node
 */
export function inclusionProofPath(size: bigint, index: bigint): bigint[] {
  if (!isCompleteSize(size) || index < 0n || index >= size)
    throw new RangeError(`a complete tree of ${size} nodes has no node ${index}`);
  return pathBelowPeak(peakOverLeaf(leafCount(size), leafIndex(index)), index);
}

/**
 * Returns the same for a node that is known to lie under a peak. It walks down from the peak: one step for each level.
 */
export function pathBelowPeak(peak: Peak, index: bigint): bigint[] {
  const siblings: bigint[] = [];
  let node = peak.index;
  for (let span = 1n << BigInt(peak.height); node !== index; span >>= 1n) {
    const left = node - span;
    const right = node - 1n;
    const goesLeft = index <= left;
    siblings.push(goesLeft ? right : left);
    node = goesLeft ? left : right;
  }
  return siblings.reverse();
}
