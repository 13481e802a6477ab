import { indexHeight } from './index-height.js';
import { peaks } from './peaks.js';

/**
 * Indices of the siblings from a node up to its peak in a tree of `size` nodes, lowest first; none when it is a peak.
 * Found from the peak down, so it costs one step a level.
 * @throws {RangeError} when the size is incomplete or does not hold the node
 */
export function inclusionProofPath(size: bigint, index: bigint): bigint[] {
  const peak = index < 0n ? undefined : peaks(size).find((candidate) => candidate >= index);
  if (peak === undefined) throw new RangeError(`a tree of ${size} nodes has no node ${index}`);
  const siblings: bigint[] = [];
  let node = peak;
  for (let span = 1n << BigInt(indexHeight(peak)); node !== index; span >>= 1n) {
    const left = node - span;
    const right = node - 1n;
    const goesLeft = index <= left;
    siblings.push(goesLeft ? right : left);
    node = goesLeft ? left : right;
  }
  return siblings.reverse();
}
