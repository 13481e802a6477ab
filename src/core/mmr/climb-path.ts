import { hashPosPair64 } from './hash-pos-pair64.js';
import { indexHeight } from './index-height.js';
import type { ParentHash } from './parent-hash.js';

/**
 * Returns the value that a node's value and its path of siblings, lowest first, lead to. All of them are 32 bytes
 * (draft, included_root).
 */
export function climbPath(
  index: bigint,
  value: Uint8Array,
  path: readonly Uint8Array[],
  parent: ParentHash = hashPosPair64,
): Uint8Array {
  let node = index;
  let root = value;
  let height = indexHeight(index);
  for (const sibling of path) {
    const isRight = indexHeight(node + 1n) > height;
    node += isRight ? 1n : 1n << BigInt(height + 1);
    root = isRight ? parent(node + 1n, sibling, root) : parent(node + 1n, root, sibling);
    height++;
  }
  return root;
}
