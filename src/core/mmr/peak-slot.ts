import { popcount } from './uint64-bits.js';

/**
 * Returns the place of the peak of a height among the peaks, left to right, of a tree of `leafCount` leaves. The height
 * of the peak over a node is the node's own height plus the length of its inclusion path.
 */
export function peakSlot(leafCount: bigint, height: number): number {
  return popcount(leafCount >> BigInt(height + 1));
}
