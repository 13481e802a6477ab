import { indexHeight } from './index-height.js';
import { leafCount } from './leaf-count.js';

/** Size of the smallest complete log that holds the node at `index`. */
export function firstSize(index: bigint): bigint {
  let last = index;
  while (indexHeight(last + 1n) > indexHeight(last)) last += 1n;
  return last + 1n;
}

/** Index of the leaf at the node `index`; for an interior node, of the leaf whose addition created it. */
export function leafIndex(index: bigint): bigint {
  return leafCount(firstSize(index)) - 1n;
}
