import type { ParentHash } from '../mmr/parent-hash.js';
import { type Sha256, sha256 } from '../sha256.js';

const NODE = Uint8Array.of(1);

/** Returns the hash of an interior node (RFC 9162 section 2.1.1). It does not cover the position. */
export const rfc9162Parent: ParentHash = rfc9162ParentWith(sha256);

/** Returns the same hash computed with another implementation of SHA-256. */
export function rfc9162ParentWith(hash: Sha256): ParentHash {
  return (_position, left, right) => hash(NODE, left, right);
}
