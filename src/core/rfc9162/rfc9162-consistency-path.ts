import type { NodeAt } from '../mmr/node-at.js';
import { rfc9162Root } from './rfc9162-root.js';
import { type Subtree, splitPoint, subtreeNodes } from './rfc9162-subtree.js';

/** The subtrees that a consistency proof names, lowest first (RFC 9162 section 2.1.4.1, PROOF and SUBPROOF). */
function proofSubtrees(size1: bigint, size2: bigint): Subtree[] {
  if (size1 < 0n || size1 > size2) throw new RangeError(`a tree of ${size2} leaves does not extend one of ${size1}`);
  if (size1 === 0n) return [];
  const subtrees: Subtree[] = [];
  let start = 0n;
  let leaves = size2;
  while (start + leaves !== size1) {
    const split = splitPoint(leaves);
    const goesLeft = size1 <= start + split;
    subtrees.push(goesLeft ? { start: start + split, leaves: leaves - split } : { start, leaves: split });
    if (!goesLeft) start += split;
    leaves = goesLeft ? split : leaves - split;
  }
  // A subtree that begins with the first leaf is the whole older tree: the verifier has its root.
  if (start !== 0n) subtrees.push({ start, leaves });
  return subtrees.reverse();
}

/**
 * Returns the indices of the stored nodes that `rfc9162ConsistencyPath` reads, so that they can be loaded first.
 * @throws {RangeError} if the older tree is larger
 */
export function rfc9162ConsistencyNodes(size1: bigint, size2: bigint): bigint[] {
  return proofSubtrees(size1, size2).flatMap(subtreeNodes);
}

/**
 * Returns the proof that the tree of `size2` leaves extends that of the first `size1` (RFC 9162 section 2.1.4.1). It is
 * empty if the sizes are equal, or if the older tree is empty.
 * @throws {RangeError} if the older tree is larger
 */
export function rfc9162ConsistencyPath(size1: bigint, size2: bigint, nodeAt: NodeAt): Uint8Array[] {
  return proofSubtrees(size1, size2).map((subtree) => rfc9162Root(subtreeNodes(subtree).map(nodeAt)));
}
