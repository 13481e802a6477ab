// cbor-x only ever encodes, and only values that `canonical` has put in order. It must not decode anything from outside:
// it keeps the last of duplicate keys, takes invalid UTF-8 and turns large integers into floats. Neither may cose-kit,
// which registers tag 18 for the whole process and folds every header label it does not know into one. Reading foreign
// bytes is the work of cbor-reader.ts.
import { Encoder } from 'cbor-x';
import { toHex } from '../bytes.js';
import type { CborMap, CborValue } from './cbor-reader.js';

export { type CborLimits, type CborMap, type CborValue, decodeCbor } from './cbor-reader.js';

const encoder = new Encoder({ useRecords: false, mapsAsObjects: false, tagUint8Array: false, variableMapSize: true });

/** Largest magnitude: CBOR itself reaches one further below zero, where cbor-x is off by one and writes a bignum tag. */
const WIDEST_INTEGER = 2n ** 64n - 1n;
/** Outside of these, cbor-x writes a number as a float and needs a bigint; inside, it writes a bigint too wide. */
const WIDEST_NUMBER = 0xffffffffn;

function canonicalInteger(value: number | bigint): number | bigint {
  if (typeof value === 'number' && !Number.isSafeInteger(value))
    throw new TypeError('only safe integers can be encoded');
  const integer = BigInt(value);
  if (integer > WIDEST_INTEGER || integer < -WIDEST_INTEGER) throw new TypeError('integer beyond 64 bits');
  return integer > WIDEST_NUMBER || integer < -1n - WIDEST_NUMBER ? integer : Number(integer);
}

function canonicalMap(map: CborMap): CborMap {
  const entries = [...map].map(([key, value]) => {
    const label = canonical(key) as number | bigint | string;
    return { order: toHex(encoder.encode(label)), label, value: canonical(value) };
  });
  entries.sort((left, right) => (left.order < right.order ? -1 : 1));
  const ordered: CborMap = new Map(entries.map(({ label, value }) => [label, value]));
  if (ordered.size !== map.size) throw new TypeError('a map has one key twice, as number and as bigint');
  return ordered;
}

function canonical(value: CborValue): CborValue {
  if (typeof value === 'number' || typeof value === 'bigint') return canonicalInteger(value);
  if (typeof value === 'string') {
    if (/\p{Surrogate}/u.test(value)) throw new TypeError('a text has a lone surrogate');
    return value;
  }
  if (typeof value === 'boolean' || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(canonical);
  if (value instanceof Map) return canonicalMap(value);
  throw new TypeError('not a CBOR value');
}

/**
 * Deterministic CBOR (RFC 8949 section 4.2.1): shortest integers and lengths, map keys in byte order, definite lengths,
 * no floats, no tags. Equal values give equal bytes.
 * @throws {TypeError} for what cannot be encoded so: floats, integers beyond 64 bits, lone surrogates, undefined
 */
export function encodeCbor(value: CborValue): Uint8Array {
  return new Uint8Array(encoder.encode(canonical(value)));
}
