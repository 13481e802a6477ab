import type { NodeAt } from '../mmr/node-at.js';
import { rfc9162Root } from './rfc9162-root.js';
import { type Subtree, splitPoint, subtreeNodes } from './rfc9162-subtree.js';

/** The subtrees beside the way from the root to a leaf, lowest first (RFC 9162 section 2.1.3.1, PATH). */
function siblingSubtrees(leafIndex: bigint, treeSize: bigint): Subtree[] {
  if (leafIndex < 0n || leafIndex >= treeSize)
    throw new RangeError(`a tree of ${treeSize} leaves has no leaf ${leafIndex}`);
  const siblings: Subtree[] = [];
  let start = 0n;
  let leaves = treeSize;
  while (leaves > 1n) {
    const split = splitPoint(leaves);
    const goesLeft = leafIndex < start + split;
    siblings.push(goesLeft ? { start: start + split, leaves: leaves - split } : { start, leaves: split });
    if (!goesLeft) start += split;
    leaves = goesLeft ? split : leaves - split;
  }
  return siblings.reverse();
}

/**
 * Returns the indices of the stored nodes that `rfc9162InclusionPath` reads, so that they can be loaded first: O(log
 * treeSize) of them.
 * @throws {RangeError} if the tree does not hold the leaf
 */
export function rfc9162InclusionNodes(leafIndex: bigint, treeSize: bigint): bigint[] {
  return siblingSubtrees(leafIndex, treeSize).flatMap(subtreeNodes);
}

/**
 * Returns the inclusion path of a leaf in the tree of the first `treeSize` leaves (RFC 9162 section 2.1.3.1).
 * @throws {RangeError} if the tree does not hold the leaf
 */
export function rfc9162InclusionPath(leafIndex: bigint, treeSize: bigint, nodeAt: NodeAt): Uint8Array[] {
  return rfc9162InclusionPaths(treeSize, nodeAt)(leafIndex);
}

/**
 * Prepares the inclusion paths of many leaves of one tree. Nodes that the paths share are hashed once.
 * @returns a function that throws {RangeError} if the tree does not hold the leaf
 */
export function rfc9162InclusionPaths(treeSize: bigint, nodeAt: NodeAt): (leafIndex: bigint) => Uint8Array[] {
  /** Roots of subtrees that are not stored as one node, by their first leaf: each ends with the tree. */
  const ragged = new Map<bigint, Uint8Array>();
  const rootOf = (subtree: Subtree): Uint8Array => {
    const { start, leaves } = subtree;
    const isStored = (leaves & (leaves - 1n)) === 0n;
    const known = isStored ? undefined : ragged.get(start);
    if (known) return known;
    const root = rfc9162Root(subtreeNodes(subtree).map(nodeAt));
    if (!isStored) ragged.set(start, root);
    return root;
  };
  return (leafIndex) => siblingSubtrees(leafIndex, treeSize).map(rootOf);
}
