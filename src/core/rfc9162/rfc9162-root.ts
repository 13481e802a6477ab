import { sha256 } from '../sha256.js';
import { rfc9162Parent } from './rfc9162-parent.js';

const EMPTY = new Uint8Array();

/**
 * Returns the root of the tree whose perfect subtrees, left to right, have these roots; SHA-256 of nothing for the
 * empty tree (RFC 9162 section 2.1.1). Splitting at the largest power of two is the same as joining the subtrees from
 * the right.
 */
export function rfc9162Root(peaks: readonly Uint8Array[]): Uint8Array {
  if (peaks.length === 0) return sha256(EMPTY);
  return peaks.reduceRight((right, left) => rfc9162Parent(0n, left, right));
}
