// The post order puts leaf k after the nodes of the k leaves before it, and k leaves make 2k − popcount(k) nodes.
import { bitLength, popcount } from './uint64-bits.js';

/** Returns the node count of the complete tree with this number of leaves. */
export function sizeOfLeaves(leaves: bigint): bigint {
  return 2n * leaves - BigInt(popcount(leaves));
}

/**
 * Returns the leaf count of a tree of `size` nodes. For an incomplete size it is that of the largest complete tree
 * below it.
 */
export function leafCount(size: bigint): bigint {
  let rest = size;
  let leaves = 0n;
  for (let tree = (1n << BigInt(bitLength(size))) - 1n; tree > 0n; tree >>= 1n) {
    leaves <<= 1n;
    if (rest >= tree) {
      rest -= tree;
      leaves |= 1n;
    }
  }
  return leaves;
}

/**
 * Returns whether this number of nodes makes a complete tree: whole leaves and every parent that they complete. 0 is
 * complete.
 */
export function isCompleteSize(size: bigint): boolean {
  return size >= 0n && sizeOfLeaves(leafCount(size)) === size;
}

/** Returns the node index of a leaf. */
export function mmrIndex(leafIndex: bigint): bigint {
  return sizeOfLeaves(leafIndex);
}

/** Returns the index of the leaf at a node. For an interior node it is the leaf whose addition created the node. */
export function leafIndex(mmrIndex: bigint): bigint {
  return leafCount(mmrIndex);
}
