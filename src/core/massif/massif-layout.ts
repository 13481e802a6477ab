// Where things are in a massif file. Heights count from one: a massif of height 14 holds trees of 14 levels, 8,192 leaves.
// File: start record, reserved slots and trie header, trie data, peak stack, nodes.
import { leafCount, mmrIndex } from '../mmr/leaf-count.js';
import { popcount, trailingZeros } from '../mmr/uint64-bits.js';

/** Bytes of a node and of every slot before the trie data. */
export const NODE_BYTES = 32;
export const TRIE_ENTRY_BYTES = 64;
export const START_RECORD_BYTES = 32;
/** Byte offset of the trie data: start record, seven reserved slots and the trie header come before it. */
export const TRIE_START = 9 * NODE_BYTES;
/** A file of a greater height could not be held in memory. */
export const MOST_HEIGHT = 24;

export function leavesPerMassif(height: number): number {
  return 2 ** (height - 1);
}

/** Returns the index of the first leaf of a massif. */
export function firstLeaf(height: number, massif: number): bigint {
  return BigInt(massif) * BigInt(leavesPerMassif(height));
}

/** Returns the node index of a massif's first node, which is also the size of the log before it. */
export function firstNode(height: number, massif: number): bigint {
  return mmrIndex(firstLeaf(height, massif));
}

/** Returns the number of the massif that holds a leaf. */
export function massifOfLeaf(height: number, leafIndex: bigint): number {
  return Number(leafIndex / BigInt(leavesPerMassif(height)));
}

/**
 * Returns the number of the massif that holds the last node of a log of `size` nodes. The log's seal belongs to it.
 * @throws {RangeError} for 0
 */
export function massifOfSize(height: number, size: bigint): number {
  if (size <= 0n) throw new RangeError('an empty log has no massif');
  return massifOfLeaf(height, leafCount(size) - 1n);
}

/**
 * Returns the byte offset of the peak stack. Trie data has twice the room that its entries need; the second half stays
 * zero.
 */
export function stackStart(height: number): number {
  return TRIE_START + TRIE_ENTRY_BYTES * 2 * leavesPerMassif(height);
}

/** Returns the byte offset of the first node. */
export function nodeStart(height: number, massif: number): number {
  return stackStart(height) + NODE_BYTES * popcount(BigInt(massif));
}

/**
 * Returns the number of nodes of a full massif: a perfect tree, and the parents above it that its last leaf completes.
 */
export function fullNodeCount(height: number, massif: number): number {
  return 2 ** height - 1 + trailingZeros(BigInt(massif) + 1n);
}
