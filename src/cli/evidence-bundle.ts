import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type UnzipFileInfo, unzipSync } from 'fflate';
import { type BundleFiles, INDEX_PATH } from '../core/bundle/bundle-index.js';
import { OPERATION_FILES } from '../core/bundle/bundle-layout.js';
import { readInput, UsageError } from './evidence-file.js';

/** A name that another tool would write outside of the folder that it unpacks into, or that names no file of its own. */
const ELSEWHERE = /^\/|\\|^[A-Za-z]:|(?:^|\/)(?:\.\.?|__proto__)?(?:\/|$)/;
const MOST_FILES = 20_000;
const MOST_BYTES = 16 * 1024 * 1024;
/** Of all files together, unpacked: a small zip may say that it is a large one. */
const MOST_BYTES_IN_ALL = 256 * 1024 * 1024;
/** Folders of the layout are at most six deep. */
const MOST_DEPTH = 8;

/** Judges each file before it is unpacked or read. @throws {UsageError} */
function createJudge(): (name: string, bytes: number) => void {
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
  const judge = createJudge();
  for (const [name, { length }] of Object.entries(files)) judge(name, length);
}

/**
 * Returns the files in a zip.
 * @throws {UsageError} when it is no zip, names a file twice or elsewhere, or is larger than any bundle is
 */
export function openBundle(zip: Uint8Array): BundleFiles {
  const judge = createJudge();
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

/** Returns whether a folder is an unpacked bundle: it has an index, or the files of an operation. */
export async function isBundleFolder(folder: string): Promise<boolean> {
  const own = new Set([INDEX_PATH, ...Object.keys(OPERATION_FILES)]);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  if (entries.some((entry) => own.has(entry.name) && !entry.isDirectory())) return true;
  const folders = entries.filter((entry) => entry.isDirectory()).slice(0, MOST_FILES);
  for (const { name } of folders)
    if ((await readdir(join(folder, name)).catch(() => [])).some((each) => own.has(each))) return true;
  return false;
}

/**
 * Returns the files in an unpacked bundle, as `openBundle` does of the zip.
 * @throws {UsageError} when one cannot be read or is not a regular file, and when the folder is larger than any bundle is
 */
export async function readBundleFolder(folder: string): Promise<BundleFiles> {
  const judge = createJudge();
  const files: Record<string, Uint8Array> = {};
  for (const path of await pathsIn(folder, '', MOST_DEPTH)) {
    const place = join(folder, path);
    const found = await lstat(place);
    // A link may lead out of the bundle, or to a device that never ends.
    if (!found.isFile()) throw new UsageError(`the evidence bundle has something in it that is not a file: ${path}`);
    judge(path, found.size);
    files[path] = await readInput(place);
  }
  return files;
}

async function pathsIn(folder: string, inside: string, depth: number): Promise<string[]> {
  if (depth === 0) throw new UsageError(`the folder is nested too deeply to be a bundle: ${inside}`);
  const entries = await readdir(join(folder, inside), { withFileTypes: true }).catch(() => {
    throw new UsageError(`cannot read ${join(folder, inside)}`);
  });
  if (entries.length > MOST_FILES) throw new UsageError('the evidence bundle is too large');
  const paths: string[] = [];
  for (const entry of entries) {
    const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
    if (entry.isDirectory()) paths.push(...(await pathsIn(folder, path, depth - 1)));
    else paths.push(path);
  }
  return paths;
}
