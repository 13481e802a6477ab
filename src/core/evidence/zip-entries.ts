import { utf8Text } from '../utf8-text.js';

/** What a zip lists. The name of a folder ends in `/`. */
export interface ZipEntry {
  readonly name: string;
  /** Whether the data is a deflate stream (RFC 1951). Otherwise it is the content. */
  readonly isDeflated: boolean;
  readonly data: Uint8Array;
  /** Of the content, in bytes. */
  readonly size: number;
  /** CRC-32 of the content. */
  readonly crc: number;
}

interface Sizes {
  readonly crc: number;
  readonly packedSize: number;
  readonly size: number;
}

/** What the directory says of an entry, and what the header before its data says again. */
interface EntryHeader extends Sizes {
  readonly flags: number;
  readonly method: number;
  readonly name: string;
  /** Where the extra fields end. */
  readonly end: number;
}

interface ListedEntry extends EntryHeader {
  /** Where the header before the data is. */
  readonly place: number;
}

const LOCAL = 0x04034b50;
const LISTED = 0x02014b50;
const DESCRIPTOR = 0x08074b50;
const END = 0x06054b50;
const ZIP64_LOCATOR = 0x07064b50;
/** What can follow a file's data. */
const BEHIND_DATA = new Set([DESCRIPTOR, LOCAL, LISTED]);
/** The letter P. */
const FIRST_OF_SIGNATURE = 0x50;
const END_BYTES = 22;
const ZIP64_LOCATOR_BYTES = 20;
const [STORED, DEFLATED] = [0, 8];
const SIZES_FOLLOW = 0x0008;
const NAME_IS_UTF8 = 0x0800;
/** Two more say how well an entry is compressed. Any other says that it is encrypted, or no plain file. */
const FLAGS = SIZES_FOLLOW | NAME_IS_UTF8 | 0x0006;
const SIZES = ['crc', 'packedSize', 'size'] as const;
/** Extra fields with other sizes (zip64), and with another name (Info-ZIP's Unicode path). */
const OTHER_VALUES = new Set([0x0001, 0x7075]);
/** Unix's types of files, and MS-DOS's attributes. Tools write a symbolic link as one, and a volume label not at all. */
const [ANY_TYPE, FOLDER_TYPE, FILE_TYPE] = [0, 4, 8];
const [LABEL_BIT, FOLDER_BIT] = [0x08, 0x10];
const NOT_ASCII = /[^\0-\x7f]/;

/**
 * Returns what a zip lists, in the order in which it stands there. Every reader finds the same in such a zip, whether it
 * begins at the directory or at the first byte: both name the same entries, and nothing is between them.
 * Source: PKWARE's APPNOTE.TXT 6.3.10, section 4.3, without zip64, encryption, further disks and a comment at the end.
 * @throws {Error} for any other zip
 */
export function zipEntries(zip: Uint8Array): ZipEntry[] {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.length);
  const end = zip.length - END_BYTES;
  const [count, length, start] = [u16(view, end + 10), u32(view, end + 12), u32(view, end + 16)];
  check(u32(view, end) === END && u32(view, end + 4) === 0 && u16(view, end + 20) === 0);
  check(u16(view, end + 8) === count && start + length === end);
  check(end < ZIP64_LOCATOR_BYTES || u32(view, end - ZIP64_LOCATOR_BYTES) !== ZIP64_LOCATOR);
  const listed: ListedEntry[] = [];
  let at = start;
  for (let left = count; left > 0; left -= 1) {
    const entry = listedEntry(view, at);
    listed.push(entry);
    at = entry.end + u16(view, at + 32);
  }
  check(at === end);
  let next = 0;
  const entries = listed
    .toSorted((left, right) => left.place - right.place)
    .map((entry): ZipEntry => {
      const { place, name, method, packedSize, size, crc } = entry;
      check(place === next);
      const local = localHeader(view, entry);
      const dataEnd = local.end + packedSize;
      next = local.flags & SIZES_FOLLOW ? descriptorEnd(view, dataEnd, entry) : dataEnd;
      if (next !== dataEnd && method === STORED) checkNoSignature(view, local.end, dataEnd);
      return { name, isDeflated: method === DEFLATED, data: zip.subarray(local.end, dataEnd), size, crc };
    });
  check(next === start);
  return entries;
}

function listedEntry(view: DataView, at: number): ListedEntry {
  check(u32(view, at) === LISTED && u16(view, at + 34) === 0);
  const header = headerOf(view, at + 8, at + 46);
  check(header.method === DEFLATED || (header.method === STORED && header.packedSize === header.size));
  const isFolder = header.name.endsWith('/');
  const attributes = u32(view, at + 38);
  const type = attributes >>> 28;
  check(type === ANY_TYPE || type === (isFolder ? FOLDER_TYPE : FILE_TYPE));
  check((attributes & (isFolder ? LABEL_BIT : LABEL_BIT | FOLDER_BIT)) === 0);
  return { ...header, place: u32(view, at + 42) };
}

function localHeader(view: DataView, listed: ListedEntry): EntryHeader {
  check(u32(view, listed.place) === LOCAL);
  const local = headerOf(view, listed.place + 6, listed.place + 30);
  check(local.name === listed.name && local.method === listed.method);
  // A writer that did not know all of them yet left the others at zero.
  check(agrees(listed, local, (local.flags & SIZES_FOLLOW) > 0));
  return local;
}

/** Reads the members that both kinds of header have in the same order, from the flags on. */
function headerOf(view: DataView, at: number, nameAt: number): EntryHeader {
  const flags = u16(view, at);
  const extraAt = nameAt + u16(view, at + 20);
  const end = extraAt + u16(view, at + 22);
  check((flags & ~FLAGS) === 0);
  checkExtraFields(view, extraAt, end);
  const name = utf8Text(new Uint8Array(view.buffer, view.byteOffset + nameAt, extraAt - nameAt));
  // For some readers a name ends at a zero. Without the flag, letters other than ASCII differ between readers.
  check(!name.includes('\0') && ((flags & NAME_IS_UTF8) > 0 || !NOT_ASCII.test(name)));
  return { flags, method: u16(view, at + 2), ...sizesAt(view, at + 8), name, end };
}

function checkExtraFields(view: DataView, start: number, end: number): void {
  let at = start;
  while (at < end) {
    check(!OTHER_VALUES.has(u16(view, at)));
    at += 4 + u16(view, at + 2);
  }
  check(at === end);
}

/** What follows the data may begin with a signature. */
function descriptorEnd(view: DataView, start: number, listed: ListedEntry): number {
  const at = u32(view, start) === DESCRIPTOR ? start + 4 : start;
  check(agrees(listed, sizesAt(view, at), false));
  return at + 12;
}

/**
 * A reader that begins at the first byte has no other way to find where such a file ends: it reads until it meets what
 * stands behind a file. Otherwise a file could hold its own end, and more files behind that.
 */
function checkNoSignature(view: DataView, start: number, end: number): void {
  const bytes = new Uint8Array(view.buffer, view.byteOffset + start, end - start);
  for (let at = bytes.indexOf(FIRST_OF_SIGNATURE); at >= 0; at = bytes.indexOf(FIRST_OF_SIGNATURE, at + 1))
    check(!BEHIND_DATA.has(u32(view, start + at)));
}

function sizesAt(view: DataView, at: number): Sizes {
  return { crc: u32(view, at), packedSize: u32(view, at + 4), size: u32(view, at + 8) };
}

function agrees(listed: Sizes, said: Sizes, orZero: boolean): boolean {
  return SIZES.every((member) => said[member] === listed[member] || (orZero && said[member] === 0));
}

// Both throw a RangeError outside of the file.
const u16 = (view: DataView, at: number): number => view.getUint16(at, true);
const u32 = (view: DataView, at: number): number => view.getUint32(at, true);

function check(isAlike: boolean): void {
  if (!isAlike) throw new RangeError('readers of this zip could differ in what they find');
}
