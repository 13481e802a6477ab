import { type Sha256, sha256 } from '../sha256.js';

const LEAF = Uint8Array.of(0);

/** Returns `rfc9162Leaf` computed with another implementation of SHA-256. */
export function rfc9162LeafWith(hash: Sha256): (entry: Uint8Array) => Uint8Array {
  return (entry) => hash(LEAF, entry);
}

/** Returns the leaf hash of an entry's bytes (RFC 9162 section 2.1.1). */
export const rfc9162Leaf = rfc9162LeafWith(sha256);
