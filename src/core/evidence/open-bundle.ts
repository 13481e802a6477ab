import type { BundleFiles } from '../bundle/bundle-index.js';
import { crc32 } from '../crc32.js';
import { inflateExactly } from './inflate-exactly.js';
import { UsageError } from './usage-error.js';
import { type ZipEntry, zipEntries } from './zip-entries.js';

/** A name that another tool would write outside of the folder that it unpacks into, or that names no file of its own. */
const ELSEWHERE = /^\/|[\\:]|[. ](?:\/|$)|(?:^|\/)(?:__proto__)?(?:\/|$)/;
export const MOST_FILES = 20_000;
const UNREADABLE =
  'the evidence bundle is damaged, or a zip that programs may read differently: get it again, or unpack it and check the folder';
const MOST_BYTES = 16 * 1024 * 1024;
/** Of all files together, unpacked: a small zip may say that it is a large one. */
const MOST_BYTES_IN_ALL = 256 * 1024 * 1024;

/** Judges each file before it is unpacked or read. @throws {UsageError} */
export function judgeBundleFiles(): (name: string, bytes: number) => void {
  const names = new Set<string>();
  let unpacked = 0;
  return (name, bytes) => {
    // File systems differ in which names they keep apart. One name for two contents: another tool would check the other.
    // In upper case first: some letters, such as ſ and s, are only then one.
    const known = name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
    if (names.has(known)) throw new UsageError(`the evidence bundle has ${name} in it twice`);
    if (ELSEWHERE.test(name)) throw new UsageError(`the evidence bundle has a file for elsewhere in it: ${name}`);
    unpacked += bytes;
    if (names.add(known).size > MOST_FILES || bytes > MOST_BYTES || unpacked > MOST_BYTES_IN_ALL)
      throw new UsageError('the evidence bundle is too large');
  };
}

/** Checks that what is to be written can be read again. @throws {UsageError} */
export function checkBundleLimits(files: BundleFiles): void {
  const judge = judgeBundleFiles();
  for (const [name, { length }] of Object.entries(files)) judge(name, length);
}

/**
 * Returns the files in a zip: the bytes that any other tool unpacks from it.
 * @throws {UsageError} when tools could differ in what they unpack, a file is named twice or elsewhere, or it is larger than
 *   any bundle is
 */
export function openBundle(zip: Uint8Array): BundleFiles {
  const judge = judgeBundleFiles();
  try {
    const entries = zipEntries(zip);
    for (const { name, data, size } of entries) judge(name.replace(/\/$/, ''), Math.max(data.length, size));
    const files = entries.filter(({ name }) => !name.endsWith('/'));
    return Object.fromEntries(files.map((entry) => [entry.name, contentOf(entry)]));
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(UNREADABLE);
  }
}

function contentOf({ name, isDeflated, data, size, crc }: ZipEntry): Uint8Array {
  const content = isDeflated ? inflateExactly(data, size) : new Uint8Array(data);
  if (crc32(content) !== crc) throw new RangeError(`${name} has another checksum`);
  return content;
}
