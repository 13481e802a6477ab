import { sha256 } from '../sha256.js';

const LEAF = Uint8Array.of(0);

/** Leaf hash of an entry's bytes (RFC 9162 section 2.1.1). */
export function rfc9162Leaf(entry: Uint8Array): Uint8Array {
  return sha256(LEAF, entry);
}
