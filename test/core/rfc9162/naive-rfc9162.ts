// RFC 9162 sections 2.1.1, 2.1.3.1 and 2.1.4.1 as they are written: recursion over slices of the leaf list.
import { naiveHash } from '../mmr/naive-mmr.js';

const NODE = Uint8Array.of(1);
const known = new Map<string, Uint8Array>();

function split(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}

/** Tree hash of leaf hashes `from`…`to`−1. One list of leaves for all calls of a test: subtrees are remembered by place. */
export function naiveRoot(leaves: readonly Uint8Array[], from = 0, to = leaves.length): Uint8Array {
  if (to === from) return naiveHash();
  if (to - from === 1) return leaves[from]!;
  const place = `${from}-${to}`;
  let root = known.get(place);
  if (!root) {
    const middle = from + split(to - from);
    root = naiveHash(NODE, naiveRoot(leaves, from, middle), naiveRoot(leaves, middle, to));
    known.set(place, root);
  }
  return root;
}

/** A path, with the side of each sibling: what a verifier's work depends on. */
export interface NaivePath {
  readonly hashes: Uint8Array[];
  readonly sides: string;
}

export function naiveInclusion(leaves: readonly Uint8Array[], leaf: number, from: number, to: number): NaivePath {
  if (to - from === 1) return { hashes: [], sides: '' };
  const middle = from + split(to - from);
  const left = leaf < middle;
  const below = left ? naiveInclusion(leaves, leaf, from, middle) : naiveInclusion(leaves, leaf, middle, to);
  const sibling = left ? naiveRoot(leaves, middle, to) : naiveRoot(leaves, from, middle);
  return { hashes: [...below.hashes, sibling], sides: below.sides + (left ? 'R' : 'L') };
}

export function naiveConsistency(
  leaves: readonly Uint8Array[],
  size1: number,
  from: number,
  to: number,
  whole = true,
): Uint8Array[] {
  if (size1 === to) return whole ? [] : [naiveRoot(leaves, from, to)];
  const middle = from + split(to - from);
  return size1 <= middle
    ? [...naiveConsistency(leaves, size1, from, middle, whole), naiveRoot(leaves, middle, to)]
    : [...naiveConsistency(leaves, size1, middle, to, false), naiveRoot(leaves, from, middle)];
}
