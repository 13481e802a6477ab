import { VerificationError } from '../errors.js';
import { climbPath } from './climb-path.js';
import type { ParentHash } from './parent-hash.js';
import { requireHashes } from './require-hashes.js';

const MOST_NODES = 2n ** 63n;

/**
 * Returns the MMR peak that a node's value and its path of siblings lead to
 * (draft-bryce-cose-receipts-mmr-profile, included_root). The caller must compare it with a peak that it
 * trusts. Every step hashes a position, so a path also proves the index. An empty path proves only the value: use
 * `verifyInclusion` if the size is known.
 * @throws {VerificationError} `inclusion_path_invalid` if an argument cannot be part of a proof
 */
export function includedRoot(
  index: bigint,
  value: Uint8Array,
  path: readonly Uint8Array[],
  parent?: ParentHash,
): Uint8Array {
  if (index < 0n || index >= MOST_NODES)
    throw new VerificationError('inclusion_path_invalid', 'a node index is not in 0…2^63−1');
  requireHashes('inclusion_path_invalid', 'an inclusion path', [value, ...path]);
  return climbPath(index, value, path, parent);
}
