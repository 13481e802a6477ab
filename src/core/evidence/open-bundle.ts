import { type UnzipFileInfo, unzipSync } from 'fflate';
import type { BundleFiles } from '../bundle/bundle-index.js';
import { UsageError } from './usage-error.js';

/** A name that another tool would write outside of the folder that it unpacks into, or that names no file of its own. */
const ELSEWHERE = /^\/|\\|^[A-Za-z]:|(?:^|\/)(?:\.\.?|__proto__)?(?:\/|$)/;
export const MOST_FILES = 20_000;
const MOST_BYTES = 16 * 1024 * 1024;
/** Of all files together, unpacked: a small zip may say that it is a large one. */
const MOST_BYTES_IN_ALL = 256 * 1024 * 1024;

/** Judges each file before it is unpacked or read. @throws {UsageError} */
export function judgeBundleFiles(): (name: string, bytes: number) => void {
  const names = new Set<string>();
  let unpacked = 0;
  return (name, bytes) => {
    // File systems differ in which names they keep apart. One name for two contents: another tool would check the other.
    const known = name.normalize('NFC').toLowerCase();
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
 * Returns the files in a zip.
 * @throws {UsageError} when it is no zip, names a file twice or elsewhere, or is larger than any bundle is
 */
export function openBundle(zip: Uint8Array): BundleFiles {
  const judge = judgeBundleFiles();
  const filter = ({ name, size, originalSize }: UnzipFileInfo) => {
    const isFolder = name.endsWith('/');
    // What is not compressed is taken at its stored length, whatever it says to be.
    judge(isFolder ? name.slice(0, -1) : name, Math.max(size, originalSize));
    return !isFolder;
  };
  try {
    return unzipSync(zip, { filter });
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError('the evidence bundle is damaged');
  }
}
