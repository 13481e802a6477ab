import { massifOfSize } from '../massif/massif-layout.js';
import { peakStackIndices } from '../massif/peak-stack.js';
import type { Massif } from '../massif/read-massif.js';
import { peaks as peakIndices } from '../mmr/peaks.js';
import type { Proof, SealProof } from './claim.js';
import { logOf } from './log-of.js';
import { sealProof, type VerifiedSeal } from './proofs.js';

/** A proven copy of a log, as far as a seal covers it. */
export interface HeldCopy {
  /** Nodes under the seal. */
  readonly size: bigint;
  readonly height: number;
  /** Numbers of its massifs; an older seal may end before the last ones. */
  readonly numbers: readonly number[];
  /** What ties its massifs to the rest of the log; also behind its size, where a later generation goes on. */
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

/** A seal, and the copy of a log as far as it covers it. */
type SealedCopy = readonly [seal: SealProof, copy: HeldCopy];

const held = new WeakMap<Proof, readonly SealedCopy[]>();

/**
 * Notes the copy of a log that a seal's proof is about, so that it can be compared. Returns the proof.
 * @param seals all seals in the copy: after an open fork, older ones are of the generation before, and cover it under that name
 */
export function holding(proof: SealProof, copy: HeldCopy, seals: Iterable<VerifiedSeal>): SealProof {
  const names = new Map([...seals].map((seal) => [logOf(seal), seal]));
  names.delete(logOf(proof.log));
  const older = [...names.values()].map((seal): SealedCopy => [sealProof(seal), { ...copy, size: seal.state.size }]);
  held.set(proof, [[proof, copy], ...older]);
  return proof;
}

/** Returns the copies that a proof is about: first the one under its own seal. */
export function heldCopies(proof: Proof): readonly SealedCopy[] {
  return held.get(proof) ?? [];
}

/** A copy that is in memory: consecutive massifs, in the last of which the sealed size ends. */
export function copyOf(massifs: readonly Massif[], seals: readonly VerifiedSeal[]): HeldCopy {
  const edges: Edges = new Map();
  const { height, index: first } = massifs[0]!;
  const { size } = seals.at(-1)!.state;
  const massif = (number: number) => massifs[number - first]!;
  for (const each of massifs) if (each.size <= size) addEdges(edges, each);
  for (const { state } of seals) addEdges(edges, massif(massifOfSize(height, state.size)), state.size);
  return { size, height, numbers: massifs.map(({ index }) => index), edges, massif };
}

/** The number of the massif that has a node, in a log of massifs of this height. */
export function massifOfNode(height: number, index: bigint): number {
  return massifOfSize(height, index + 1n);
}
