import { access, constants, open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { equalBytes } from '../core/bytes.js';
import {
  createFile,
  createStagedFile,
  discardStagedFile,
  removeFile,
  removeUnfinishedFiles,
  replaceWithStagedFile,
  stageFile,
  stageLink,
  UNFINISHED,
} from './durable-file.js';
import type { ObjectStore } from './object-store.js';

const KEY = /^[a-z0-9][a-z0-9._-]*(\/[a-z0-9][a-z0-9._-]*)*$/;
const MODE = 0o644;

/** An object store in a folder: each object is a file, and its key is the path. */
export function fileObjectStore(folder: string): ObjectStore {
  const place = (key: string): string => {
    if (!KEY.test(key)) throw new TypeError('not an object key');
    return join(folder, key);
  };

  async function get(key: string): Promise<Uint8Array | undefined> {
    try {
      return new Uint8Array(await readFile(place(key)));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  return {
    get,
    async has(key) {
      try {
        await access(place(key));
        return true;
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
    },
    async putNew(key, bytes, staged) {
      if (await createStagedFile(staged ?? (await stageFile(place(key), bytes, MODE)), place(key))) return 'created';
      const standing = await get(key);
      return standing && equalBytes(standing, bytes) ? 'same' : 'different';
    },
    put: async (key, bytes, staged) =>
      replaceWithStagedFile(staged ?? (await stageFile(place(key), bytes, MODE)), place(key)),
    stage: async (key, bytes) => stageFile(place(key), bytes, MODE),
    stageCopy: async (key, staged) => stageLink(staged, place(key)),
    discard: discardStagedFile,
    async putStream(key, content) {
      if (!(await createFile(place(key), content, MODE))) throw new Error('an object with this key already exists');
      return { size: (await stat(place(key))).size };
    },
    async open(key, range) {
      try {
        const file = await open(place(key), 'r');
        return file.createReadStream(range ? { start: range.first, end: range.last } : {});
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    remove: (key) => removeFile(place(key)),
    removeUnfinished: (before) => removeUnfinishedFiles(folder, before),
    async list(prefix) {
      const under = join(folder, prefix.slice(0, prefix.lastIndexOf('/') + 1));
      const entries = await readdir(under, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
      return entries
        .filter((entry) => entry.isFile() && !entry.name.startsWith(UNFINISHED))
        .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, '/').length))
        .filter((key) => key.startsWith(prefix))
        .sort();
    },
    ping: () => access(folder, constants.R_OK | constants.W_OK | constants.X_OK),
  };
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
