import { VerificationError } from '../errors.js';
import type { ParentHash } from '../mmr/parent-hash.js';
import { requireHashes } from '../mmr/require-hashes.js';
import { rfc9162Parent } from './rfc9162-parent.js';

function refuse(why: string): never {
  throw new VerificationError('inclusion_path_invalid', `the inclusion path ${why}`);
}

/**
 * Returns the root that a leaf hash and its path lead to (RFC 9162 section 2.1.3.2). The caller must compare it with a
 * root that it trusts. Index and size are proven only as far as the shape of the path depends on them.
 * @throws {VerificationError} `inclusion_path_invalid` if the path cannot belong to this leaf in a tree of this size
 */
export function rfc9162RootFromInclusion(
  leaf: Uint8Array,
  leafIndex: bigint,
  treeSize: bigint,
  path: readonly Uint8Array[],
  parent: ParentHash = rfc9162Parent,
): Uint8Array {
  if (leafIndex < 0n || leafIndex >= treeSize) refuse('names a leaf that the tree does not have');
  for (const hashes of [[leaf], path]) requireHashes('inclusion_path_invalid', 'an inclusion path', hashes);
  let node = leafIndex;
  let last = treeSize - 1n;
  let root = leaf;
  for (const sibling of path) {
    if (last === 0n) refuse('is too long');
    const isRight = (node & 1n) === 1n;
    if (isRight || node === last) {
      root = parent(0n, sibling, root);
      // The last node of a level without a sibling moves up unhashed, until it is a right child.
      while (node !== 0n && (node & 1n) === 0n) {
        node >>= 1n;
        last >>= 1n;
      }
    } else {
      root = parent(0n, root, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  if (last !== 0n) refuse('is too short');
  return root;
}
