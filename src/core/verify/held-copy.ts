import { massifOfSize } from '../massif/massif-layout.js';
import { peakStackIndices } from '../massif/peak-stack.js';
import type { Massif } from '../massif/read-massif.js';
import { peaks as peakIndices } from '../mmr/peaks.js';
import type { Proof, SealProof } from './claim.js';

/** A proven copy of a log, as far as a seal covers it. */
export interface HeldCopy {
  /** Nodes under the seal. */
  readonly size: bigint;
  readonly height: number;
  /** Numbers of its massifs. */
  readonly numbers: readonly number[];
  /** What ties its massifs to the rest of the log. */
  readonly edges: Edges;
  massif(number: number): Massif | Promise<Massif>;
}

/** Hashes by node index: peaks of the log where massifs begin and end. */
export type Edges = Map<string, Uint8Array>;

/** Adds the peaks of the log where a massif begins, and those at a size that ends in it. The hashes do not keep the file. */
export function addEdges(edges: Edges, massif: Massif, size = massif.size): void {
  const begins = peakStackIndices(massif.height, massif.index);
  for (const index of [...begins, ...peakIndices(size)]) edges.set(String(index), massif.nodeAt(index).slice());
}

const held = new WeakMap<Proof, HeldCopy>();

/** Notes the copy of a log that a seal's proof is about, so that it can be compared. Returns the proof. */
export function holding(proof: SealProof, copy: HeldCopy): SealProof {
  held.set(proof, copy);
  return proof;
}

/** Returns the copy that a proof is about, if it is about one. */
export function heldCopy(proof: Proof): HeldCopy | undefined {
  return held.get(proof);
}

/** A copy that is in memory: consecutive massifs, in the last of which the sealed size ends. */
export function copyOf(massifs: readonly Massif[], size: bigint): HeldCopy {
  const edges: Edges = new Map();
  const [{ height, index: first }, last] = [massifs[0]!, massifs.at(-1)!];
  for (const massif of massifs) addEdges(edges, massif, massif === last ? size : massif.size);
  const numbers = massifs.map(({ index }) => index);
  return { size, height, numbers, edges, massif: (number) => massifs[number - first]! };
}

/** The number of the massif that has a node, in a log of massifs of this height. */
export function massifOfNode(height: number, index: bigint): number {
  return massifOfSize(height, index + 1n);
}
