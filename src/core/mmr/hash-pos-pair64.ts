import { uint64ToBytes } from '../bytes.js';
import { type Sha256, sha256 } from '../sha256.js';
import type { ParentHash } from './parent-hash.js';

/**
 * The MMR parent: SHA-256 of the parent's position, eight bytes most significant first, and its two children
 * (draft-bryce-cose-receipts-mmr-profile, hash_pospair64). The position makes every node's hash its own.
 */
export const hashPosPair64: ParentHash = hashPosPair64With(sha256);

/** The same parent by another implementation of SHA-256. */
export function hashPosPair64With(hash: Sha256): ParentHash {
  return (position, left, right) => hash(uint64ToBytes(position), left, right);
}
