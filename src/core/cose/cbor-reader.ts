import { uint64FromBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { utf8Text } from '../utf8-text.js';
import { CborFloat, halfFloat } from './cbor-float.js';

/** A map with integer and text keys, in the order of its bytes when decoded. */
export type CborMap = Map<number | bigint | string, CborValue>;

/**
 * Values of our formats, and the floats that others write. Decoded integers are numbers if they are safe integers, else
 * bigints.
 */
export type CborValue = number | bigint | string | boolean | null | Uint8Array | CborFloat | CborValue[] | CborMap;

/** Limits for untrusted input. */
export interface CborLimits {
  /** Bytes of the whole input; 4 MiB unless told. */
  readonly maxBytes?: number;
  /** Arrays, maps and tags inside each other; 16 unless told. */
  readonly maxDepth?: number;
  /** Values and keys in total; 16,384 unless told. */
  readonly maxItems?: number;
  /** The tag (below 24) that the outermost value must carry; without it, no tag is taken anywhere. */
  readonly tag?: number;
  /**
   * For what others signed: takes finite floats of any width as values, and integers and lengths that are longer than
   * needed, as common encoders write them. Nothing of it lets two keys of a map be one.
   */
  readonly ofOthers?: boolean | undefined;
}

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 16;
const MAX_ITEMS = 16_384;

const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6 } as const;
/** Bytes that follow the initial one, by its low five bits from 24 on, and the smallest value worth that many. */
const WIDTHS = [1, 2, 4, 8] as const;
const SMALLEST = [24, 0x100, 0x10000, 0x100000000] as const;

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', `not strict CBOR: ${reason}`);
}

function exact(integer: bigint): number | bigint {
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : integer;
}

class Reader {
  private offset = 0;
  private items = 0;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly maxDepth: number,
    private readonly maxItems: number,
    private readonly ofOthers: boolean,
  ) {}

  tag(expected: number): void {
    if (this.bytes[this.offset] !== (MAJOR.tag << 5) + expected) throw malformed(`tag ${expected} is missing`);
    this.offset += 1;
  }

  value(depth: number): CborValue {
    if (depth > this.maxDepth) throw malformed('nested too deeply');
    this.items += 1;
    if (this.items > this.maxItems) throw malformed('too many values');
    const { major, argument, info } = this.head();
    switch (major) {
      case MAJOR.unsigned:
        return argument;
      case MAJOR.negative:
        return exact(-1n - BigInt(argument));
      case MAJOR.bytes:
        return this.bytes.slice(this.skip(argument), this.offset);
      case MAJOR.text:
        return this.text(argument);
      case MAJOR.array:
        return this.list(argument, depth);
      case MAJOR.map:
        return this.map(argument, depth);
      case MAJOR.tag:
        throw malformed('a tag where none belongs');
      default:
        return this.simple(info);
    }
  }

  atEnd(): boolean {
    return this.offset === this.bytes.length;
  }

  end(): void {
    if (!this.atEnd()) throw malformed('bytes after the end');
  }

  private list(length: number | bigint, depth: number): CborValue[] {
    const list: CborValue[] = [];
    for (let left = this.count(length); left > 0; left -= 1) list.push(this.value(depth + 1));
    return list;
  }

  private map(length: number | bigint, depth: number): CborMap {
    const map: CborMap = new Map();
    for (let left = this.count(length); left > 0; left -= 1) {
      const key = this.value(depth + 1);
      if (typeof key !== 'number' && typeof key !== 'bigint' && typeof key !== 'string')
        throw malformed('a map key is neither an integer nor text');
      if (map.has(key)) throw malformed('a map has one key twice');
      map.set(key, this.value(depth + 1));
    }
    return map;
  }

  private simple(info: number): CborValue {
    if (info === 20 || info === 21) return info === 21;
    if (info === 22) return null;
    if (info > 24 && this.ofOthers) return this.float(WIDTHS[info - 24]!);
    throw malformed('a float, undefined or another simple value');
  }

  private float(width: number): CborFloat {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.skip(width), width);
    const value = width === 2 ? halfFloat(view.getUint16(0)) : width === 4 ? view.getFloat32(0) : view.getFloat64(0);
    if (!Number.isFinite(value)) throw malformed('a float that is no finite number');
    return new CborFloat(value);
  }

  private text(length: number | bigint): string {
    return utf8Text(this.bytes.subarray(this.skip(length), this.offset));
  }

  /** Where so many bytes begin; the offset is then at their end. */
  private skip(length: number | bigint): number {
    const start = this.offset;
    if (length > this.bytes.length - start) throw malformed('cut short');
    this.offset += Number(length);
    return start;
  }

  /** Every member takes a byte at least: a length beyond what is left is refused before anything is allocated. */
  private count(length: number | bigint): number {
    if (length > this.bytes.length - this.offset) throw malformed('cut short');
    if (length > this.maxItems) throw malformed('too many values');
    return Number(length);
  }

  private head(): { major: number; argument: number | bigint; info: number } {
    const initial = this.bytes[this.offset];
    if (initial === undefined) throw malformed('cut short');
    this.offset += 1;
    const major = initial >> 5;
    const info = initial & 31;
    if (info < 24) return { major, argument: info, info };
    const step = info - 24;
    if (step >= WIDTHS.length) throw malformed('indefinite or reserved length');
    if (major === 7) return { major, argument: 0, info };
    const argument = this.argument(WIDTHS[step]!);
    if (argument < SMALLEST[step]! && !this.ofOthers) throw malformed('a number or length that could be shorter');
    return { major, argument, info };
  }

  private argument(width: (typeof WIDTHS)[number]): number | bigint {
    const start = this.skip(width);
    if (width === 8) return exact(uint64FromBytes(this.bytes, start));
    let value = 0;
    for (let place = start; place < this.offset; place += 1) value = value * 256 + this.bytes[place]!;
    return value;
  }
}

/**
 * Decodes exactly one value, strictly (RFC 8949): definite lengths, shortest integers and lengths, no repeated key,
 * valid UTF-8, no floats, and no tag except the one that `limits` names around the whole. `limits` may allow what others
 * write. Map keys may be in any order, because headers of other signers are kept as bytes. Work and memory are bounded by
 * the input and the limits.
 * @throws {VerificationError} `malformed`
 */
export function decodeCbor(bytes: Uint8Array, limits: CborLimits = {}): CborValue {
  const { maxBytes = MAX_BYTES, maxDepth = MAX_DEPTH, maxItems = MAX_ITEMS, tag, ofOthers = false } = limits;
  if (bytes.length > maxBytes) throw malformed('too long');
  const reader = new Reader(bytes, maxDepth, maxItems, ofOthers);
  if (tag !== undefined) reader.tag(tag);
  const value = reader.value(0);
  reader.end();
  return value;
}

/**
 * Decodes a CBOR sequence (RFC 8742), as strictly as one value; the limits apply to all of it. An empty input is an
 * empty sequence.
 * @throws {VerificationError} `malformed`
 */
export function decodeCborSequence(bytes: Uint8Array, limits: Omit<CborLimits, 'tag' | 'ofOthers'> = {}): CborValue[] {
  const { maxBytes = MAX_BYTES, maxDepth = MAX_DEPTH, maxItems = MAX_ITEMS } = limits;
  if (bytes.length > maxBytes) throw malformed('too long');
  const reader = new Reader(bytes, maxDepth, maxItems, false);
  const values: CborValue[] = [];
  while (!reader.atEnd()) values.push(reader.value(0));
  return values;
}
