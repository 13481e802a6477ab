import { pathBelowPeak } from '../core/mmr/inclusion-proof-path.js';
import { mmrIndex } from '../core/mmr/leaf-count.js';
import type { Peak } from '../core/mmr/peak-over-leaf.js';
import { bitLength } from '../core/mmr/uint64-bits.js';

/** A leaf and the peak above it. */
export interface LeafUnderPeak {
  readonly leafIndex: bigint;
  readonly peak: Peak;
}

/** Inclusion paths of many leaves, which share one list of nodes. */
interface LeafPaths {
  /** Node indices. */
  readonly nodes: readonly bigint[];
  /** For each leaf the siblings up to the peak, lowest first, as indexes into the list. */
  readonly paths: readonly (readonly number[])[];
}

/**
 * Returns the paths of leaves, best in ascending order. Above the lowest common ancestor of two leaves their paths are
 * the same, so each leaf reuses that part of the leaf before it. Then no node is twice in the list.
 */
export function leafPaths(leaves: readonly LeafUnderPeak[]): LeafPaths {
  const nodes: bigint[] = [];
  const paths: number[][] = [];
  let before: { readonly leafIndex: bigint; readonly peak: bigint; readonly path: readonly number[] } | undefined;
  for (const { leafIndex, peak } of leaves) {
    // The paths meet above the highest bit in which the two leaf indices differ.
    const shared = before?.peak === peak.index ? before.path.slice(bitLength(before.leafIndex ^ leafIndex)) : [];
    const siblings = pathBelowPeak(peak, mmrIndex(leafIndex)).slice(0, peak.height - shared.length);
    const path = [...siblings.map((node) => nodes.push(node) - 1), ...shared];
    paths.push(path);
    before = { leafIndex, peak: peak.index, path };
  }
  return { nodes, paths };
}
