import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { equalBytes } from '../core/bytes.js';
import type { ObjectStore } from './object-store.js';

const KEY = /^[a-z0-9][a-z0-9._-]*(\/[a-z0-9][a-z0-9._-]*)*$/;
const UNFINISHED = '.unfinished-';

/**
 * An object store in a folder. A write goes to a file beside its place, is synced, moved there by `link` (which fails
 * where something stands) or `rename`, and the folder is synced: a crash leaves the old state and perhaps a stray
 * `.unfinished-` file, which `list` passes over.
 */
export function fileObjectStore(folder: string): ObjectStore {
  const place = (key: string): string => {
    if (!KEY.test(key)) throw new TypeError('not an object key');
    return join(folder, key);
  };

  const get = async (key: string): Promise<Uint8Array | undefined> => {
    try {
      return new Uint8Array(await readFile(place(key)));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  };

  return {
    get,
    async putNew(key, bytes) {
      const target = place(key);
      const unfinished = await writeBeside(folder, target, bytes);
      try {
        await link(unfinished, target);
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
        const standing = await get(key);
        return standing && equalBytes(standing, bytes) ? 'same' : 'different';
      } finally {
        await unlink(unfinished);
      }
      await syncFolder(dirname(target));
      return 'created';
    },
    async put(key, bytes) {
      const target = place(key);
      await rename(await writeBeside(folder, target, bytes), target);
      await syncFolder(dirname(target));
    },
    async list(prefix) {
      const under = prefix.slice(0, prefix.lastIndexOf('/') + 1);
      const entries = await readdir(join(folder, under), { recursive: true, withFileTypes: true }).catch((error) => {
        if (codeOf(error) === 'ENOENT') return [];
        throw error;
      });
      return entries
        .filter((entry) => entry.isFile() && !entry.name.startsWith(UNFINISHED))
        .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, '/').length))
        .filter((key) => key.startsWith(prefix))
        .sort();
    },
  };
}

async function writeBeside(folder: string, target: string, bytes: Uint8Array): Promise<string> {
  const made = await mkdir(dirname(target), { recursive: true });
  if (made) await syncFoldersUp(dirname(target), dirname(folder));
  const unfinished = join(dirname(target), `${UNFINISHED}${randomUUID()}`);
  const file = await open(unfinished, 'wx', 0o644);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  return unfinished;
}

async function syncFoldersUp(from: string, until: string): Promise<void> {
  for (let folder = from; folder.length >= until.length && folder !== dirname(folder); folder = dirname(folder)) {
    await syncFolder(folder);
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
