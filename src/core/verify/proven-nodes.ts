import { indexHeight } from '../mmr/index-height.js';
import { leafIndex } from '../mmr/leaf-count.js';
import type { ParentHash } from '../mmr/parent-hash.js';
import { rfc9162Parent } from '../rfc9162/rfc9162-parent.js';
import { splitPoint } from '../rfc9162/rfc9162-subtree.js';

/**
 * A hash in the tree of a log. `at` is its place: the index of a node of a Merkle mountain range, or `<first>-<end>`, the
 * leaves under a node of an RFC 9162 tree. One history of a log has one hash in a place, at every size.
 */
export interface ProvenNode {
  readonly at: string;
  readonly hash: Uint8Array;
}

/** Returns the place of a leaf of an RFC 9162 tree. */
export const leafPlace = (index: bigint): string => `${index}-${index + 1n}`;

/** Returns the name of a place, for a person. */
export function placeName(at: string): string {
  const [first, end] = at.split('-').map(BigInt) as [bigint, bigint | undefined];
  if (end === undefined) return indexHeight(first) === 0 ? `entry ${leafIndex(first)}` : `node ${first}`;
  return end - first === 1n ? `entry ${first}` : `the tree over entries ${first} to ${end - 1n}`;
}

/**
 * Returns every node that a path of a Merkle mountain range proves, from its leaf to its peak. The caller must have
 * checked the path.
 */
export function* mmrNodes(
  index: bigint,
  leaf: Uint8Array,
  path: readonly Uint8Array[],
  parent: ParentHash,
): Generator<ProvenNode> {
  let [node, hash] = [index, leaf];
  yield { at: String(node), hash };
  for (const [height, sibling] of path.entries()) {
    const span = 2n << BigInt(height);
    const isRight = indexHeight(node + 1n) > height;
    yield { at: String(isRight ? node - span + 1n : node + span - 1n), hash: sibling };
    node += isRight ? 1n : span;
    hash = isRight ? parent(node + 1n, sibling, hash) : parent(node + 1n, hash, sibling);
    yield { at: String(node), hash };
  }
}

/**
 * Returns every node that a path of an RFC 9162 tree proves, from its leaf to its root. The caller must have checked
 * the path.
 */
export function* rfc9162Nodes(
  index: bigint,
  leaf: Uint8Array,
  size: bigint,
  path: readonly Uint8Array[],
  parent: ParentHash = rfc9162Parent,
): Generator<ProvenNode> {
  const splits: { readonly first: bigint; readonly middle: bigint; readonly end: bigint }[] = [];
  for (let [first, end] = [0n, size]; end - first > 1n; ) {
    const middle = first + splitPoint(end - first);
    splits.push({ first, middle, end });
    if (index < middle) end = middle;
    else first = middle;
  }
  let hash = leaf;
  yield { at: leafPlace(index), hash };
  for (const sibling of path) {
    const { first, middle, end } = splits.pop()!;
    const isRight = index >= middle;
    yield { at: isRight ? `${first}-${middle}` : `${middle}-${end}`, hash: sibling };
    hash = isRight ? parent(0n, sibling, hash) : parent(0n, hash, sibling);
    yield { at: `${first}-${end}`, hash };
  }
}
