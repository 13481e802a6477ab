import { equalBytes } from '../bytes.js';
import type { CborValue } from './cbor.js';
import { CborFloat } from './cbor-float.js';

/**
 * Returns whether two decoded values have the same deterministic encoding: the order of map entries makes no difference.
 * Nothing is encoded, because the reader takes −2^64 and the writer does not write it.
 */
export function equalCbor(left: CborValue, right: CborValue): boolean {
  if (left instanceof Uint8Array) return right instanceof Uint8Array && equalBytes(left, right);
  if (Array.isArray(left))
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((member, place) => equalCbor(member, right[place]!))
    );
  if (left instanceof CborFloat) return right instanceof CborFloat && Object.is(left.value, right.value);
  if (!(left instanceof Map)) return left === right;
  if (!(right instanceof Map) || left.size !== right.size) return false;
  for (const [key, member] of left) if (!right.has(key) || !equalCbor(member, right.get(key)!)) return false;
  return true;
}
