import { type BundleFiles, INDEX_PATH } from '../core/bundle/bundle-index.js';
import { withoutOuterFolder } from '../core/bundle/outer-folder.js';
import { isSystemFile } from '../core/bundle/system-file.js';
import { isBundle } from '../core/bundle/verify-bundle.js';
import { type EvidenceFile, evidenceFile, evidenceFolder } from '../core/evidence/evidence-file.js';
import { judgeBundleFiles, MOST_FILES } from '../core/evidence/open-bundle.js';
import { hasReplica } from '../core/evidence/replica-logs.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { TEXTS } from './texts.js';

/** A file that the reader dropped or chose; its path has `/` when it came in a folder. */
export interface GivenFile {
  readonly path: string;
  readonly file: File;
}

/** Of the files of a folder together. They are all in memory at once. */
const MOST_BYTES = 256 * 1024 * 1024;

/** @throws {UsageError} when it cannot be read */
export async function bytesOf({ path, file }: GivenFile): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new UsageError(TEXTS.unreadableFile(path));
  }
}

/**
 * Reads given files as evidence. A folder that is an unpacked bundle or a replica of logs is one piece. The files of any
 * other folder, and the folders in it, are pieces of their own.
 * @throws {UsageError} when one cannot be read, or a folder is too large
 */
export function readGiven(given: readonly GivenFile[]): Promise<EvidenceFile[]> {
  return readInside('', given);
}

/** @param prefix of all paths: the folder that they are in, with its slash */
async function readInside(prefix: string, given: readonly GivenFile[]): Promise<EvidenceFile[]> {
  const folders = new Map<string, GivenFile[]>();
  const found: EvidenceFile[] = [];
  for (const each of given) {
    const slash = each.path.indexOf('/', prefix.length);
    const folder = each.path.slice(0, slash);
    if (slash < 0) found.push(await evidenceFile(each.path, await bytesOf(each)));
    else if (!folders.get(folder)?.push(each)) folders.set(folder, [each]);
  }
  for (const [folder, files] of folders) found.push(...(await readFolder(folder, files)));
  return found;
}

async function readFolder(name: string, given: readonly GivenFile[]): Promise<EvidenceFile[]> {
  const inside = ({ path }: GivenFile) => path.slice(name.length + 1);
  const files: Record<string, Uint8Array> = Object.fromEntries(given.map((each) => [inside(each), new Uint8Array()]));
  if (!isOnePiece(withoutOuterFolder(files))) return readLoose(name, given);
  const judge = judgeBundleFiles();
  for (const each of given) {
    judge(inside(each), each.file.size);
    files[inside(each)] = await bytesOf(each);
  }
  return [evidenceFolder(name, withoutOuterFolder(files))];
}

/** Whether files are a bundle or a replica. A folder around a bundle and other files is neither. */
function isOnePiece(files: BundleFiles): boolean {
  const names = Object.keys(files);
  if (names.includes(INDEX_PATH)) return true;
  return !names.some((name) => name.endsWith(`/${INDEX_PATH}`)) && (isBundle(files) || hasReplica(names));
}

/** What people put into a folder. As documents, the files of their system would refuse all evidence beside them. */
async function readLoose(folder: string, given: readonly GivenFile[]): Promise<EvidenceFile[]> {
  const own = given.filter(({ path }) => !isSystemFile(path));
  const bytes = own.reduce((sum, { file }) => sum + file.size, 0);
  if (own.length > MOST_FILES || bytes > MOST_BYTES) throw new UsageError(TEXTS.largeFolder(folder));
  return readInside(`${folder}/`, own);
}

/** Adds files to those that are there: another file of the same name gets a number, the same file is not added again. */
export function withFiles(there: readonly EvidenceFile[], more: readonly EvidenceFile[]): EvidenceFile[] {
  const all = [...there];
  for (const each of more) {
    if (all.some((other) => other.path === each.path && isSame(other, each))) continue;
    let path = each.path;
    for (let number = 2; all.some((other) => other.path === path); number += 1) path = `${each.path} (${number})`;
    all.push({ ...each, path });
  }
  return all;
}

function isSame({ bytes: left }: EvidenceFile, { bytes: right }: EvidenceFile): boolean {
  return left.length > 0 && left.length === right.length && left.every((byte, at) => byte === right[at]);
}
