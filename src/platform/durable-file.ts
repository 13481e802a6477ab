import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Prefix of the names of files that a crash left unfinished; they are never read. */
export const UNFINISHED = '.unfinished-';

/** Waits until a file's content is on disk. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Waits until a folder's entries are on disk. */
export const syncFolder = syncFile;

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
    await link(staged, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await unlink(staged);
  }
  await syncFolder(dirname(path));
  return true;
}

/**
 * Creates or replaces a file: a reader sees either the old bytes or the new ones. The file is on disk when this
 * resolves.
 */
export async function replaceFile(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  await replaceWithStagedFile(await stageFile(path, bytes, mode), path);
}

/** Does the same with content that was staged for this path, which is used up. */
export async function replaceWithStagedFile(staged: string, path: string): Promise<void> {
  await rename(staged, path);
  await syncFolder(dirname(path));
}

/** Removes staged content that was not used. */
export async function discardStagedFile(staged: string): Promise<void> {
  await rm(staged, { force: true });
}

/** Removes a file and its unfinished remains of crashes. Not safe while another caller writes the file. */
export async function removeFile(path: string): Promise<void> {
  const folder = dirname(path);
  const unfinished = unfinishedName(path);
  const names = await readdir(folder).catch(() => []);
  const left = names.filter((name) => name === basename(path) || name.startsWith(unfinished));
  for (const name of left) await unlink(join(folder, name));
  if (left.length > 0) await syncFolder(folder);
}

function unfinishedName(path: string): string {
  return `${UNFINISHED}${basename(path)}-`;
}

/**
 * Writes content beside the path that it is for, under a name that is never read; it is on disk when this resolves.
 * Returns that name.
 */
export async function stageFile(path: string, bytes: Content, mode: number): Promise<string> {
  await makeFolder(dirname(path));
  const unfinished = join(dirname(path), `${unfinishedName(path)}${randomUUID()}`);
  const file = await open(unfinished, 'wx', mode);
  try {
    await writeFile(file, bytes);
    await file.sync();
  } catch (error) {
    await unlink(unfinished);
    throw error;
  } finally {
    await file.close();
  }
  return unfinished;
}

/** A new folder is on disk only when its parent folder is. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}
