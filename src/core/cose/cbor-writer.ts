// Why not cbor-x: it has no canonical order, writes integers beyond 32 bits as floats, and keeps no map keys in order of
// their bytes; what it takes to undo that costs three times the encoding itself. Here what a value needs is written once,
// in place, and a map is put in order only when it is not. Tests hold it against another library, byte for byte.
import { utf8 } from '../bytes.js';
import type { CborMap, CborValue } from './cbor-reader.js';

const Major = { unsigned: 0x00, negative: 0x20, bytes: 0x40, text: 0x60, list: 0x80, map: 0xa0, tag: 0xc0 } as const;
const FALSE = 0xf4;
const TRUE = 0xf5;
const NULL = 0xf6;

const WIDEST_INTEGER = 2n ** 64n - 1n;
const UINT32 = 2 ** 32;

/** Where the value that is written stands; nothing is written while another value is. */
let buffer = new Uint8Array(4096);
let end = 0;

function reserve(count: number): void {
  if (end + count <= buffer.length) return;
  const wider = new Uint8Array(Math.max(buffer.length * 2, end + count));
  wider.set(buffer.subarray(0, end));
  buffer = wider;
}

function writeByte(byte: number): void {
  reserve(1);
  buffer[end] = byte;
  end += 1;
}

/** The lowest bytes of a number, most significant first. */
function writeNumber(value: number, count: number): void {
  let rest = value;
  for (let place = end + count - 1; place >= end; place -= 1) {
    buffer[place] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  end += count;
}

/** A major type with its argument in the fewest bytes. */
function writeHead(major: number, argument: number): void {
  reserve(9);
  if (argument < 24) writeByte(major + argument);
  else if (argument < 0x100) writeArgument(major + 24, argument, 1);
  else if (argument < 0x10000) writeArgument(major + 25, argument, 2);
  else if (argument < UINT32) writeArgument(major + 26, argument, 4);
  else writeArgument(major + 27, argument, 8);
}

function writeArgument(head: number, argument: number, count: number): void {
  writeByte(head);
  writeNumber(argument, count);
}

function writeInteger(value: number): void {
  if (!Number.isSafeInteger(value)) throw new TypeError('only safe integers can be encoded');
  if (value < 0) writeHead(Major.negative, -1 - value);
  else writeHead(Major.unsigned, value);
}

function writeBigint(value: bigint): void {
  if (value > WIDEST_INTEGER || value < -WIDEST_INTEGER) throw new TypeError('integer beyond 64 bits');
  const number = Number(value);
  if (Number.isSafeInteger(number)) {
    writeInteger(number);
    return;
  }
  const argument = value < 0n ? -1n - value : value;
  reserve(9);
  writeByte((value < 0n ? Major.negative : Major.unsigned) + 27);
  writeNumber(Number(argument >> 32n), 4);
  writeNumber(Number(argument & 0xffffffffn), 4);
}

function writeBytes(major: number, bytes: Uint8Array): void {
  writeHead(major, bytes.length);
  reserve(bytes.length);
  buffer.set(bytes, end);
  end += bytes.length;
}

function writeText(text: string): void {
  if (writeAscii(text)) return;
  if (/\p{Surrogate}/u.test(text)) throw new TypeError('a text has a lone surrogate');
  writeBytes(Major.text, utf8(text));
}

/** Writes a text of ASCII alone, as most are; of another one nothing is left. */
function writeAscii(text: string): boolean {
  const start = end;
  writeHead(Major.text, text.length);
  reserve(text.length);
  for (let place = 0; place < text.length; place += 1) {
    const code = text.charCodeAt(place);
    if (code > 0x7f) {
      end = start;
      return false;
    }
    buffer[end + place] = code;
  }
  end += text.length;
  return true;
}

/** Where an entry of a map was written: its key begins, its value begins, its value ends. */
type Entry = readonly [key: number, value: number, end: number];

/** Compares the keys of two entries byte by byte; none begins another one. @throws {TypeError} for equal ones */
function compareKeys(left: Entry, right: Entry): number {
  const length = Math.min(left[1] - left[0], right[1] - right[0]);
  for (let place = 0; place < length; place += 1) {
    const difference = buffer[left[0] + place]! - buffer[right[0] + place]!;
    if (difference !== 0) return difference;
  }
  throw new TypeError('a map has one key twice, as number and as bigint');
}

function writeMap(map: CborMap): void {
  writeHead(Major.map, map.size);
  const start = end;
  const entries: Entry[] = [];
  let inOrder = true;
  for (const [key, value] of map) {
    const at = end;
    writeValue(key);
    const keyEnd = end;
    writeValue(value);
    const entry: Entry = [at, keyEnd, end];
    const before = entries.at(-1);
    if (before && compareKeys(before, entry) > 0) inOrder = false;
    entries.push(entry);
  }
  if (!inOrder) putInOrder(start, entries);
}

function putInOrder(start: number, entries: Entry[]): void {
  entries.sort(compareKeys);
  const written = buffer.slice(start, end);
  let place = start;
  for (const [from, , to] of entries) {
    buffer.set(written.subarray(from - start, to - start), place);
    place += to - from;
  }
}

function writeValue(value: CborValue): void {
  if (typeof value === 'number') writeInteger(value);
  else if (typeof value === 'bigint') writeBigint(value);
  else if (typeof value === 'string') writeText(value);
  else if (value instanceof Uint8Array) writeBytes(Major.bytes, value);
  else if (Array.isArray(value)) {
    writeHead(Major.list, value.length);
    for (const each of value) writeValue(each);
  } else if (value instanceof Map) writeMap(value);
  else if (value === null) writeByte(NULL);
  else if (typeof value === 'boolean') writeByte(value ? TRUE : FALSE);
  else throw new TypeError('not a CBOR value');
}

/**
 * Deterministic CBOR (RFC 8949 section 4.2.1): shortest integers and lengths, map keys in byte order, definite lengths,
 * no floats, no tag but the one around the whole when it is given. Equal values give equal bytes.
 * @throws {TypeError} for what cannot be encoded so: floats, integers beyond 64 bits, lone surrogates, undefined
 */
export function encodeCbor(value: CborValue, tag?: number): Uint8Array {
  end = 0;
  if (tag !== undefined) writeHead(Major.tag, tag);
  writeValue(value);
  return buffer.slice(0, end);
}
