import { mmrIndex } from '../mmr/leaf-count.js';
import { bitLength } from '../mmr/uint64-bits.js';

/** Consecutive leaves that RFC 9162 gives one subtree hash. */
export interface Subtree {
  readonly start: bigint;
  readonly leaves: bigint;
}

/** Returns the largest power of two below a leaf count of two or more: where a tree splits (RFC 9162 section 2.1.1). */
export function splitPoint(leaves: bigint): bigint {
  return 1n << BigInt(bitLength(leaves - 1n) - 1);
}

/**
 * Returns the indices of the stored nodes, left to right, whose `rfc9162Root` is the subtree's hash: one for each set
 * bit of its leaf count.
 */
export function subtreeNodes({ start, leaves }: Subtree): bigint[] {
  const nodes: bigint[] = [];
  let first = start;
  for (let height = bitLength(leaves) - 1; height >= 0; height--) {
    const span = 1n << BigInt(height);
    if ((leaves & span) === 0n) continue;
    nodes.push(mmrIndex(first) + 2n * span - 2n);
    first += span;
  }
  return nodes;
}
