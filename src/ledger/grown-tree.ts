import { appendLeaves } from '../core/mmr/append-leaves.js';
import type { NodeAt } from '../core/mmr/node-at.js';
import { peaks as peakIndices } from '../core/mmr/peaks.js';
import { type LogState, parentHash } from './log.js';

/** A log's tree with leaves added to its last sealed state, before or after they are stored. */
export interface GrownTree {
  readonly size: bigint;
  /** Left to right. */
  readonly peaks: readonly Uint8Array[];
  /** The new nodes; the first has the index that was the sealed size. */
  readonly nodes: readonly Uint8Array[];
  /** Every new node, and the peaks of the sealed state: with these the last leaf is proven. */
  readonly nodeAt: NodeAt;
}

/** Adds leaves to the sealed state of a log, whose peaks are given left to right. */
export function growTree(log: LogState, peaks: readonly Uint8Array[], leaves: readonly Uint8Array[]): GrownTree {
  const { sealedSize } = log;
  const { nodes, size, peaks: grown } = appendLeaves(parentHash(log.structure), sealedSize, peaks, leaves);
  const places = new Map(peakIndices(sealedSize).map((index, place) => [index, place]));
  return {
    size,
    peaks: grown,
    nodes,
    nodeAt(index) {
      const place = places.get(index);
      const node = place === undefined ? nodes[Number(index - sealedSize)] : peaks[place];
      if (!node) throw new RangeError(`node ${index} is neither new nor a peak of the sealed state`);
      return node;
    },
  };
}
