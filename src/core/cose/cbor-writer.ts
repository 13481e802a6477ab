// cbor-x writes the bytes, in its build without `new Function`, so that the core runs in a page whose policy forbids eval.
// By itself it keeps the order of a map, writes integers beyond 32 bits as floats and lone surrogates as they are: what is
// handed to it is prepared here so that none of this happens. Its reader is not used: it accepts what a verifier must
// refuse (docs/design/dependencies.md). Tests hold the bytes against cborg's.
import { Encoder } from 'cbor-x/index-no-eval';
import { concatBytes, utf8 } from '../bytes.js';
import type { CborMap, CborValue } from './cbor-reader.js';

type Key = number | bigint | string;

const WIDEST_INTEGER = 2n ** 64n - 1n;
/** cbor-x writes numbers of this range as integers, and every bigint in eight bytes. */
const WIDEST_NUMBER = 2 ** 32 - 1;
const LEAST_NUMBER = -(2 ** 32);

const encoder = new Encoder({ mapsAsObjects: false, useRecords: false, tagUint8Array: false });

function preparedNumber(value: number): number | bigint {
  if (!Number.isSafeInteger(value)) throw new TypeError('only safe integers can be encoded');
  return value > WIDEST_NUMBER || value < LEAST_NUMBER ? BigInt(value) : value;
}

function preparedBigint(value: bigint): number | bigint {
  if (value > WIDEST_INTEGER || value < -WIDEST_INTEGER) throw new TypeError('integer beyond 64 bits');
  return value > WIDEST_NUMBER || value < LEAST_NUMBER ? value : Number(value);
}

function preparedText(value: string): string {
  if (/\p{Surrogate}/u.test(value)) throw new TypeError('a text has a lone surrogate');
  return value;
}

function preparedKey(key: Key): Key {
  if (typeof key === 'number') return preparedNumber(key);
  return typeof key === 'bigint' ? preparedBigint(key) : preparedText(key);
}

/** The first byte of an encoded key tells its kind: integers from 0 come first, then negative ones, then texts. */
function kindOf(key: Key): number {
  if (typeof key === 'string') return 2;
  return key < 0 ? 1 : 0;
}

const BEYOND_ASCII = /[^\0-\x7f]/;

/** Texts are encoded with their length before them, so the shorter one comes first. */
function compareTexts(left: string, right: string): number {
  // In ASCII a character is a byte. Turning keys into bytes took an eighth of a template event's time in the service.
  if (!BEYOND_ASCII.test(left) && !BEYOND_ASCII.test(right)) {
    if (left.length !== right.length) return left.length - right.length;
    return left < right ? -1 : Number(left > right);
  }
  const [a, b] = [utf8(left), utf8(right)];
  if (a.length !== b.length) return a.length - b.length;
  const place = a.findIndex((byte, at) => byte !== b[at]);
  return place < 0 ? 0 : a[place]! - b[place]!;
}

/** The order of two encoded keys byte by byte (RFC 8949 section 4.2.1). */
function compareKeys(left: Key, right: Key): number {
  const kind = kindOf(left);
  if (kind !== kindOf(right)) return kind - kindOf(right);
  if (kind === 2) return compareTexts(left as string, right as string);
  // A negative integer n is encoded as −1 − n.
  if (left === right) return 0;
  return left < right === (kind === 0) ? -1 : 1;
}

function preparedMap(map: CborMap): CborMap {
  const written = new Map<Key, CborValue>();
  let before: Key | undefined;
  let inOrder = true;
  for (const [key, value] of map) {
    const name = preparedKey(key);
    inOrder &&= before === undefined || compareKeys(before, name) < 0;
    before = name;
    written.set(name, prepared(value));
  }
  if (written.size < map.size) throw new TypeError('a map has one key twice, as number and as bigint');
  return inOrder ? written : new Map([...written].sort(([left], [right]) => compareKeys(left, right)));
}

/** The same value in the types, and in the order, that cbor-x writes deterministically. */
function prepared(value: CborValue): CborValue {
  if (typeof value === 'number') return preparedNumber(value);
  if (typeof value === 'bigint') return preparedBigint(value);
  if (typeof value === 'string') return preparedText(value);
  if (value === null || typeof value === 'boolean' || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return Array.from(value, prepared);
  if (value instanceof Map) return preparedMap(value);
  throw new TypeError('not a CBOR value');
}

/** Bytes of a byte string of this length that come before its content. */
function byteStringHead(length: number): Uint8Array {
  if (length < 24) return Uint8Array.of(0x40 | length);
  if (length < 0x100) return Uint8Array.of(0x58, length);
  if (length < 0x10000) return Uint8Array.of(0x59, length >> 8, length);
  return Uint8Array.of(0x5a, length >>> 24, length >> 16, length >> 8, length);
}

/**
 * Returns an array of byte strings and of values that are encoded already: the same bytes as `encodeCbor`, without a look
 * at each value. @param start what comes before the first of them, the head of the array included
 */
export function joinCbor(start: Uint8Array, ...members: readonly CborPart[]): Uint8Array {
  const parts = [start];
  for (const member of members) {
    if ('bytes' in member) parts.push(byteStringHead(member.bytes.length), member.bytes);
    else parts.push(member.encoded);
  }
  return concatBytes(...parts);
}

/** A member of an array: the content of a byte string, or a value that is encoded already. */
type CborPart = { readonly bytes: Uint8Array } | { readonly encoded: Uint8Array };

/**
 * Returns deterministic CBOR (RFC 8949 section 4.2.1): shortest integers and lengths, map keys in byte order, definite
 * lengths, no floats, no tags. Equal values give equal bytes, which are the caller's own.
 * @throws {TypeError} for what cannot be encoded so: floats, integers beyond 64 bits, lone surrogates, undefined
 */
export function encodeCbor(value: CborValue): Uint8Array {
  // cbor-x returns a view into a buffer that it goes on using.
  return new Uint8Array(encoder.encode(prepared(value)));
}
