// The post order puts leaf k after the nodes of the k leaves before it, and k leaves make 2k − popcount(k) nodes.
import { bitLength, popcount } from './uint64-bits.js';

/** Node count of the complete tree of so many leaves. */
export function sizeOfLeaves(leaves: bigint): bigint {
  return 2n * leaves - BigInt(popcount(leaves));
}

/** Leaf count of a tree of `size` nodes; for an incomplete size, of the largest complete one below it. */
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

/** True when so many nodes are a whole number of leaves with every parent that they complete. 0 is complete. */
export function isCompleteSize(size: bigint): boolean {
  return size >= 0n && sizeOfLeaves(leafCount(size)) === size;
}

/** Node index of a leaf. */
export function mmrIndex(leafIndex: bigint): bigint {
  return sizeOfLeaves(leafIndex);
}

/** Index of the leaf at a node; for an interior node, of the leaf whose addition created it. */
export function leafIndex(mmrIndex: bigint): bigint {
  return leafCount(mmrIndex);
}
