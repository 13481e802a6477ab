import { leafCount, sizeOfLeaves } from './leaf-count.js';
import type { ParentHash } from './parent-hash.js';
import { popcount, trailingZeros } from './uint64-bits.js';

/** What an append leaves behind: the new nodes, and the tree as it is then. */
interface Appended {
  /** The new nodes in post order; the first has the index that was the size before. */
  readonly nodes: Uint8Array[];
  readonly size: bigint;
  readonly peaks: Uint8Array[];
}

/**
 * Adds leaves, 32 bytes each and stored as given, to a tree known by its size and its peaks (left to right). After the
 * n-th leaf as many pairs of equal trees merge as n has trailing zero bits. Nothing passed in is changed.
 * @throws {RangeError} when the size is incomplete or has another number of peaks
 * @throws {TypeError} when a leaf is not 32 bytes
 */
export function appendLeaves(
  parent: ParentHash,
  size: bigint,
  peaks: readonly Uint8Array[],
  leaves: readonly Uint8Array[],
): Appended {
  let count = leafCount(size);
  if (sizeOfLeaves(count) !== size || popcount(count) !== peaks.length)
    throw new RangeError(`${size} nodes with ${peaks.length} peaks are not a complete tree`);
  const nodes: Uint8Array[] = [];
  const stack = [...peaks];
  let next = size;
  for (const leaf of leaves) {
    if (leaf.length !== 32) throw new TypeError('a leaf is 32 bytes');
    nodes.push(leaf);
    stack.push(leaf);
    next += 1n;
    count += 1n;
    for (let merges = trailingZeros(count); merges > 0; merges--) {
      const right = stack.pop()!;
      const left = stack.pop()!;
      next += 1n;
      const node = parent(next, left, right);
      nodes.push(node);
      stack.push(node);
    }
  }
  return { nodes, size: next, peaks: stack };
}
