import { isCompleteSize, leafCount } from './leaf-count.js';
import { bitLength } from './uint64-bits.js';

/**
 * Returns the node indices of the peaks of a tree of `size` nodes, left to right, which is highest first; none for 0.
 * @throws {RangeError} if the size is incomplete
 */
export function peaks(size: bigint): bigint[] {
  if (!isCompleteSize(size)) throw new RangeError(`${size} nodes are not a complete tree`);
  const leaves = leafCount(size);
  const indices: bigint[] = [];
  let end = 0n;
  for (let height = bitLength(leaves) - 1; height >= 0; height--) {
    if (((leaves >> BigInt(height)) & 1n) === 0n) continue;
    end += (1n << BigInt(height + 1)) - 1n;
    indices.push(end - 1n);
  }
  return indices;
}
