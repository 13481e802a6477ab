import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

interface NewFolder {
  /** The folder is there. */
  readonly made: Promise<void>;
  /** Its entry is on disk, and those of the folders above it that were missing too. */
  readonly durable: Promise<void>;
}

/** The folders that are being made, until their entries are on disk. */
export type NewFolders = Map<string, NewFolder>;

/**
 * Creates an entry of a folder, and the folder if it is missing. However many callers miss the same folder, it is made and
 * synced once.
 * @param sync waits until a folder's entries are on disk
 */
export async function inFolder<Entry>(
  folders: NewFolders,
  folder: string,
  create: () => Promise<Entry>,
  sync: (folder: string) => Promise<void>,
): Promise<Entry> {
  try {
    return await create();
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  await make(folders, folder, sync).made;
  return create();
}

/** Resolves when the way to a folder is on disk, also if another caller is still making it. */
export async function wayTo(folders: NewFolders, folder: string): Promise<void> {
  await folders.get(folder)?.durable;
}

function make(folders: NewFolders, folder: string, sync: (folder: string) => Promise<void>): NewFolder {
  const under = folders.get(folder);
  if (under) return under;
  const parent = dirname(folder);
  const made = makeEntry(folder, () => make(folders, parent, sync).made);
  const durable = made.then(async () => void (await Promise.all([sync(parent), wayTo(folders, parent)])));
  const forget = () => void folders.delete(folder);
  durable.then(forget, forget);
  const begun = { made, durable };
  folders.set(folder, begun);
  return begun;
}

async function makeEntry(folder: string, makeParent: () => Promise<void>): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return;
    if (!hasCode(error, 'ENOENT')) throw error;
    await makeParent();
    // Another process may make it at the same time.
    await mkdir(folder, { mode: 0o700 }).catch((again: unknown) => {
      if (!hasCode(again, 'EEXIST')) throw again;
    });
  }
}

function hasCode(error: unknown, code: 'ENOENT' | 'EEXIST'): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
