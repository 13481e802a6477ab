import type { BundleFiles } from '../core/bundle/bundle-index.js';
import { withoutOuterFolder } from '../core/bundle/outer-folder.js';
import { isBundle } from '../core/bundle/verify-bundle.js';
import { type EvidenceFile, evidenceFile, evidenceFolder } from '../core/evidence/evidence-file.js';
import { judgeBundleFiles } from '../core/evidence/open-bundle.js';
import { hasReplica } from '../core/evidence/replica-logs.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { TEXTS } from './texts.js';

/** A file that the reader dropped or chose; its path has `/` when it came in a folder. */
export interface GivenFile {
  readonly path: string;
  readonly file: File;
}

async function bytesOf({ path, file }: GivenFile): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new UsageError(TEXTS.unreadableFile(path));
  }
}

/**
 * Reads given files as evidence. A folder that is an unpacked bundle or a replica of logs is one piece; the files of any
 * other folder are pieces of their own.
 * @throws {UsageError} when one cannot be read, or a folder is larger than any bundle is
 */
export async function readGiven(given: readonly GivenFile[]): Promise<EvidenceFile[]> {
  const folders = new Map<string, GivenFile[]>();
  const found: EvidenceFile[] = [];
  for (const each of given) {
    const slash = each.path.indexOf('/');
    if (slash < 0) found.push(await evidenceFile(each.path, await bytesOf(each)));
    else folders.set(each.path.slice(0, slash), [...(folders.get(each.path.slice(0, slash)) ?? []), each]);
  }
  for (const [name, files] of folders) found.push(...(await readFolder(name, files)));
  return found;
}

async function readFolder(name: string, given: readonly GivenFile[]): Promise<EvidenceFile[]> {
  const judge = judgeBundleFiles();
  const files: Record<string, Uint8Array> = {};
  for (const each of given) {
    const path = each.path.slice(name.length + 1);
    judge(path, each.file.size);
    files[path] = await bytesOf(each);
  }
  const inside: BundleFiles = withoutOuterFolder(files);
  if (isBundle(inside) || hasReplica(Object.keys(inside))) return [evidenceFolder(name, inside)];
  return Promise.all(given.map(async (each) => evidenceFile(each.path, files[each.path.slice(name.length + 1)]!)));
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
