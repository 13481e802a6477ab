import { randomUUID } from 'node:crypto';
import {
  type FileHandle,
  link,
  mkdir,
  open,
  opendir,
  readdir,
  rename,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ifThere } from './if-there.js';
import { inFolder, type NewFolders, wayTo } from './new-folder.js';

/** Prefix of the names of files that a crash left unfinished; they are never read. */
export const UNFINISHED = '.unfinished-';

/** Shared by all callers: one that finds a folder may rely on it only when the caller that makes it has synced it. */
const NEW_FOLDERS: NewFolders = new Map();

/** Waits until a file's content is on disk. */
export async function syncFile(path: string): Promise<void> {
  await syncAndClose(await open(path, 'r'));
}

/** Waits until a folder's entries are on disk. */
export const syncFolder = syncFile;

/**
 * Makes a folder, and those above it that are missing. Their entries are on disk when this resolves: what is synced in a
 * folder is lost with the folder's own entry.
 */
export async function makeFolder(folder: string, mode = 0o700): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode });
  if (first === undefined) return;
  for (let made = resolve(folder); made.length >= resolve(first).length; made = dirname(made))
    await syncFolder(dirname(made));
}

async function syncAndClose(handle: FileHandle): Promise<void> {
  try {
    await handle.sync();
  } finally {
    closeSoon(handle);
  }
}

/** Nobody waits for it: what was written is on disk, or its failure is reported by the sync. */
function closeSoon(handle: FileHandle): void {
  handle.close().catch(() => undefined);
}

/**
 * Changes a folder's entries; they are on disk when this resolves. The folder is opened beside the change.
 * @param beside what is done beside the sync
 */
async function changeFolder(
  folder: string,
  change: () => Promise<void>,
  beside: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const opening = open(folder, 'r');
  const [opened, changed] = await Promise.allSettled([opening, change()]);
  if (changed.status === 'rejected') {
    if (opened.status === 'fulfilled') closeSoon(opened.value);
    throw changed.reason;
  }
  await Promise.all([syncAndClose(await opening), beside()]);
}

/** The bytes of a file, in memory or as a stream. */
type Content = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * Creates a file with all of its bytes, or leaves an existing file of that name unchanged; returns whether it created
 * the file. Of two writers, one creates it. No reader sees a partial file, and the file is on disk when this resolves.
 * If reading the content fails, no file is created.
 */
export async function createFile(path: string, bytes: Content, mode: number): Promise<boolean> {
  return createStagedFile(await stageFile(path, bytes, mode), path);
}

/** Does the same with content that was staged for this path, which is used up. */
export async function createStagedFile(staged: string, path: string): Promise<boolean> {
  try {
    await changeFolder(
      dirname(path),
      () => link(staged, path),
      () => unlink(staged),
    );
    return true;
  } catch (error) {
    await discardStagedFile(staged);
    if (!isStanding(error)) throw error;
    // Who created it may have been killed, or be about to be, before its name was on disk.
    await syncFolder(dirname(path));
    return false;
  }
}

/**
 * Creates or replaces a file: a reader sees either the old bytes or the new ones. The file is on disk when this
 * resolves.
 */
export async function replaceFile(path: string, bytes: Content, mode: number): Promise<void> {
  const staged = await stageFile(path, bytes, mode);
  try {
    await changeFolder(dirname(path), () => rename(staged, path));
  } catch (error) {
    await discardStagedFile(staged);
    throw error;
  }
}

/** Removes staged content that was not used. */
export async function discardStagedFile(staged: string): Promise<void> {
  await rm(staged, { force: true });
}

/** Removes a file and its unfinished remains of crashes. Not safe while another caller writes the file. */
export async function removeFile(path: string): Promise<void> {
  const folder = dirname(path);
  const unfinished = unfinishedName(path);
  const names = (await ifThere(readdir(folder))) ?? [];
  const left = names.filter((name) => name === basename(path) || name.startsWith(unfinished));
  for (const name of left) await unlink(join(folder, name));
  if (left.length > 0) await syncFolder(folder);
}

/**
 * Removes the unfinished files under a folder that were last written before this time, and returns how many there were.
 * Entries are read one by one, because a folder can have millions.
 */
export async function removeUnfinishedFiles(folder: string, before: Date): Promise<number> {
  let removed = 0;
  const entries = (await ifThere(opendir(folder))) ?? [];
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removed += await removeUnfinishedFiles(path, before);
    else if (entry.name.startsWith(UNFINISHED) && (await isOlder(path, before))) {
      await rm(path, { force: true });
      removed += 1;
    }
  }
  return removed;
}

/** False for a file that is used up or removed meanwhile. */
async function isOlder(path: string, time: Date): Promise<boolean> {
  const found = await ifThere(stat(path));
  return found !== undefined && found.mtime < time;
}

function isStanding(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EEXIST';
}

function unfinishedName(path: string): string {
  return `${UNFINISHED}${basename(path)}-`;
}

/** A name that is never read, beside the path that it is for. */
function newUnfinishedPath(path: string): string {
  return join(dirname(path), `${unfinishedName(path)}${randomUUID()}`);
}

/**
 * Writes content beside the path that it is for, under a name that is never read; it is on disk when this resolves.
 * Returns that name.
 */
export async function stageFile(path: string, bytes: Content, mode: number): Promise<string> {
  const unfinished = newUnfinishedPath(path);
  const folder = dirname(path);
  const file = await inFolder(NEW_FOLDERS, folder, () => open(unfinished, 'wx', mode), syncFolder);
  try {
    await writeFile(file, bytes);
    await Promise.all([file.sync(), wayTo(NEW_FOLDERS, folder)]);
  } catch (error) {
    await unlink(unfinished);
    throw error;
  } finally {
    closeSoon(file);
  }
  return unfinished;
}
