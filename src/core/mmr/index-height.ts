import { bitLength } from './uint64-bits.js';

/**
 * Returns the height of the node at a 0-based index in post order; a leaf has height 0.
 * Every jump moves to the node of the same shape in the leftmost perfect tree, whose positions are all ones in binary
 * (draft-bryce-cose-receipts-mmr-profile, index_height).
 */
export function indexHeight(index: bigint): number {
  let position = index + 1n;
  while ((position & (position + 1n)) !== 0n) position -= (1n << BigInt(bitLength(position) - 1)) - 1n;
  return bitLength(position) - 1;
}
