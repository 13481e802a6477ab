import { concatBytes } from '../../../src/core/bytes.js';

/** A CBOR item by its parts, so that it can be written back wrongly: `width` is how many bytes its head's number takes. */
export interface Item {
  major: number;
  value: bigint;
  width: number;
  /** Of byte and text strings. */
  content: Uint8Array;
  /** Of lists and tags; keys and values by turns of maps. */
  members: Item[];
  /** The content of a byte string, when it is CBOR itself. */
  inner: Item | undefined;
}

/** Bytes of a head's number, by its kind. */
export const HEAD_WIDTHS = [0, 1, 2, 4, 8];

function readItem(bytes: Uint8Array, from: number): { item: Item; end: number } | undefined {
  const initial = bytes[from];
  if (initial === undefined) return undefined;
  const [major, info] = [initial >> 5, initial & 31];
  const width = info < 24 ? 0 : HEAD_WIDTHS[info - 23];
  if (width === undefined || from + 1 + width > bytes.length) return undefined;
  let value = BigInt(width === 0 ? info : 0);
  for (let at = 0; at < width; at += 1) value = (value << 8n) | BigInt(bytes[from + 1 + at]!);
  const item: Item = { major, value, width, content: new Uint8Array(), members: [], inner: undefined };
  let end = from + 1 + width;
  if (major === 2 || major === 3) {
    item.content = bytes.slice(end, end + Number(value));
    end += Number(value);
    item.inner = major === 2 && item.content.length > 3 ? wholeItem(item.content) : undefined;
    return end > bytes.length ? undefined : { item, end };
  }
  const count = major === 4 ? Number(value) : major === 5 ? 2 * Number(value) : major === 6 ? 1 : 0;
  for (let left = count; left > 0; left -= 1) {
    const read = readItem(bytes, end);
    if (!read) return undefined;
    item.members.push(read.item);
    end = read.end;
  }
  return { item, end };
}

/** The one item of these bytes, when it is a list, map, tag or simple value and nothing follows it. */
export function wholeItem(bytes: Uint8Array): Item | undefined {
  const read = readItem(bytes, 0);
  return read?.end === bytes.length && read.item.major >= 4 ? read.item : undefined;
}

function head(major: number, value: bigint, least: number): Uint8Array {
  const shortest = value < 24n ? 0 : value < 256n ? 1 : value < 65536n ? 2 : value < 2n ** 32n ? 4 : 8;
  const width = Math.max(shortest, least);
  const bytes = new Uint8Array(1 + width);
  bytes[0] = (major << 5) | (width === 0 ? Number(value) : 23 + HEAD_WIDTHS.indexOf(width));
  for (let at = 0; at < width; at += 1) bytes[width - at] = Number((value >> BigInt(8 * at)) & 255n);
  return bytes;
}

/** The bytes of an item, wrong ones included. */
export function writeItem(item: Item): Uint8Array {
  const { major, value, members } = item;
  if (major === 2 || major === 3) {
    const content = item.inner ? writeItem(item.inner) : item.content;
    return concatBytes(head(major, BigInt(content.length), item.width), content);
  }
  const count = major === 4 ? members.length : major === 5 ? members.length >> 1 : undefined;
  const own = major === 7 ? Uint8Array.of(0xe0 | Number(value)) : head(major, BigInt(count ?? value), item.width);
  return concatBytes(own, ...members.map(writeItem));
}

/** An item and everything in it. */
export function allItems(item: Item): Item[] {
  return [item, ...item.members.flatMap(allItems), ...(item.inner ? allItems(item.inner) : [])];
}

/** `false`, `true`, `null` or `undefined`, by its number. */
export const simpleItem = (value: bigint): Item => ({
  major: 7,
  value,
  width: 0,
  content: new Uint8Array(),
  members: [],
  inner: undefined,
});
