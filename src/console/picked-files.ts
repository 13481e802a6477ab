import { UsageError } from '../core/evidence/usage-error.js';
import type { GivenFile } from './given-files.js';
import { TEXTS } from './texts.js';

const MOST_DEPTH = 8;

/** Returns the files of a file control, with their paths where a folder was chosen. */
export function chosenFiles(files: FileList): GivenFile[] {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/**
 * Returns what was dropped, with the content of folders. Call it inside the event: the items are gone afterwards.
 * @throws {UsageError} when a folder cannot be read, is empty or is nested too deeply
 */
export async function droppedFiles({ items }: DataTransfer): Promise<GivenFile[]> {
  // Not the file of an entry: Chromium gives a page on a disk none.
  const dropped = [...items].map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const found = await Promise.all(
    dropped.map(({ entry, file }) => {
      if (entry?.isDirectory) return filesOf(entry as FileSystemDirectoryEntry);
      return file ? [{ path: file.name, file }] : [];
    }),
  );
  return found.flat();
}

async function filesOf(folder: FileSystemDirectoryEntry): Promise<GivenFile[]> {
  const found = await filesUnder(folder, MOST_DEPTH);
  if (found.length === 0) throw new UsageError(TEXTS.emptyFolder(folder.name));
  return found;
}

async function filesUnder(folder: FileSystemDirectoryEntry, depth: number): Promise<GivenFile[]> {
  const path = folder.fullPath.slice(1);
  if (depth === 0) throw new UsageError(TEXTS.deepFolder(path, MOST_DEPTH));
  const reader = folder.createReader();
  const found: GivenFile[] = [];
  for (;;) {
    // A browser hands out a folder in parts; an empty part is the last one.
    const part = await read<FileSystemEntry[]>((...how) => reader.readEntries(...how), TEXTS.unreadableFolder(path));
    if (part.length === 0) return found;
    for (const each of part)
      if (isFile(each)) found.push(await fileOf(each));
      else for (const inside of await filesUnder(each as FileSystemDirectoryEntry, depth - 1)) found.push(inside);
  }
}

async function fileOf(entry: FileSystemFileEntry): Promise<GivenFile> {
  const path = entry.fullPath.slice(1);
  return { path, file: await read<File>((...how) => entry.file(...how), TEXTS.unreadableFile(path)) };
}

/** @throws {UsageError} with these words when the browser refuses */
function read<T>(ask: (done: (found: T) => void, failed: () => void) => void, refused: string): Promise<T> {
  return new Promise((resolve, reject) => ask(resolve, () => reject(new UsageError(refused))));
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
