import { randomUUID } from 'node:crypto';
import { access, constants, open, readdir, readFile, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { equalBytes } from '../core/bytes.js';
import { isNoSpace } from './disk/disk-full.js';
import { isFileSystemFault } from './disk/file-system-fault.js';
import {
  createFile,
  createStagedFile,
  discardStagedFile,
  removeFile,
  removeUnfinishedFiles,
  replaceFile,
  stageFile,
  UNFINISHED,
} from './durable-file.js';
import { failureReason } from './explain-failure.js';
import { ifThere } from './if-there.js';
import { objectKey } from './object-key.js';
import type { ObjectStore } from './object-store.js';
import { ObjectStoreFailed } from './object-store-failed.js';

const MODE = 0o644;

/** An object store in a folder: each object is a file, and its key is the path. */
export function fileObjectStore(folder: string): ObjectStore {
  const place = (key: string): string => join(folder, objectKey(key));

  async function get(key: string): Promise<Uint8Array | undefined> {
    const bytes = await inStore(readFile(place(key)));
    return bytes && new Uint8Array(bytes);
  }

  return {
    get,
    has: async (key) => (await inStore(access(place(key)).then(() => true))) ?? false,
    async putNew(key, bytes, staged) {
      if (await createStagedFile(staged ?? (await stageFile(place(key), bytes, MODE)), place(key))) return 'created';
      const standing = await get(key);
      return standing && equalBytes(standing, bytes) ? 'same' : 'different';
    },
    put: async (key, bytes) => replaceFile(place(key), bytes, MODE),
    stage: async (key, bytes) => stageFile(place(key), bytes, MODE),
    discard: discardStagedFile,
    async putStream(key, content) {
      if (!(await createFile(place(key), content, MODE))) throw new Error('an object with this key already exists');
      return { size: (await stat(place(key))).size };
    },
    async open(key, range) {
      const file = await inStore(open(place(key), 'r'));
      return file?.createReadStream(range ? { start: range.first, end: range.last } : {});
    },
    remove: (key) => removeFile(place(key)),
    removeUnfinished: (before) => removeUnfinishedFiles(folder, before),
    async list(prefix) {
      const under = join(folder, prefix.slice(0, prefix.lastIndexOf('/') + 1));
      const entries = (await inStore(readdir(under, { recursive: true, withFileTypes: true }))) ?? [];
      return entries
        .filter((entry) => entry.isFile() && !entry.name.startsWith(UNFINISHED))
        .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, '/').length))
        .filter((key) => key.startsWith(prefix))
        .sort();
    },
    async ping() {
      await access(folder, constants.R_OK | constants.X_OK);
      await tryToWrite(folder);
    },
  };
}

/**
 * Makes a file and removes it: of a file system that an error has made read-only, Linux says that it may be written.
 * @throws the error of the file system, unless it has no room: that is the disk watch's to say
 */
async function tryToWrite(folder: string): Promise<void> {
  const path = join(folder, `${UNFINISHED}${randomUUID()}`);
  try {
    await writeFile(path, '', { flag: 'wx' });
    await unlink(path);
  } catch (error) {
    if (!isNoSpace(error)) throw error;
  }
}

/** What a reading finds; undefined if there is nothing. @throws {ObjectStoreFailed} if that cannot be known now */
async function inStore<Found>(reading: Promise<Found>): Promise<Found | undefined> {
  try {
    return await ifThere(reading);
  } catch (error) {
    if (!isFileSystemFault(error)) throw error;
    throw new ObjectStoreFailed(failureReason(error), { cause: error }, (error as NodeJS.ErrnoException).code);
  }
}
