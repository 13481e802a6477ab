import { UsageError } from '../core/evidence/usage-error.js';
import type { GivenFile } from './given-files.js';

const MOST_DEPTH = 8;

/** Returns the files of a file control, with their paths where a folder was chosen. */
export function chosenFiles(files: FileList): GivenFile[] {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** Returns what was dropped, with the content of folders. Call it inside the event: the items are gone afterwards. */
export function droppedFiles({ items, files }: DataTransfer): Promise<GivenFile[]> {
  const entries = [...items].flatMap((item) => (item.kind === 'file' ? (item.webkitGetAsEntry() ?? []) : []));
  if (entries.length === 0) return Promise.resolve(chosenFiles(files));
  return Promise.all(entries.map((entry) => filesUnder(entry, MOST_DEPTH))).then((found) => found.flat());
}

async function filesUnder(entry: FileSystemEntry, depth: number): Promise<GivenFile[]> {
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    return [{ path: entry.fullPath.replace(/^\//, ''), file }];
  }
  if (depth === 0) throw new UsageError(`${entry.fullPath} is nested too deeply`);
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: GivenFile[] = [];
  for (;;) {
    // A browser hands out a folder in parts; an empty part is the last one.
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return found;
    for (const each of part) found.push(...(await filesUnder(each, depth - 1)));
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
