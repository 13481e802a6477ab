import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type BundleFiles, INDEX_PATH } from '../core/bundle/bundle-index.js';
import { OPERATION_FILES } from '../core/bundle/bundle-layout.js';
import { withoutOuterFolder } from '../core/bundle/outer-folder.js';
import { judgeBundleFiles, MOST_FILES } from '../core/evidence/open-bundle.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { readInput } from './read-input.js';

/** Folders of the layout are at most six deep. */
const MOST_DEPTH = 8;

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
 * Returns the files in an unpacked bundle, under the limits of `openBundle`. The folder may also be the parent of the
 * bundle's own, with nothing else in it.
 * @throws {UsageError} when one cannot be read or is not a regular file, and when the folder is larger than any bundle is
 */
export async function readBundleFolder(folder: string): Promise<BundleFiles> {
  const judge = judgeBundleFiles();
  const files: Record<string, Uint8Array> = {};
  for (const path of await pathsIn(folder, '', MOST_DEPTH)) {
    const place = join(folder, path);
    const found = await lstat(place);
    // A link may lead out of the bundle, or to a device that never ends.
    if (!found.isFile()) throw new UsageError(`the evidence bundle has something in it that is not a file: ${path}`);
    judge(path, found.size);
    files[path] = await readInput(place);
  }
  return withoutOuterFolder(files);
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
    if (!entry.isDirectory()) paths.push(path);
    else for (const each of await pathsIn(folder, path, depth - 1)) paths.push(each);
  }
  return paths;
}
