import { type ApiError, retryLater } from '../errors.js';
import type { ObjectStore } from '../object-store.js';
import { DiskFull, isNoSpace } from './disk-full.js';
import type { DiskWatch } from './disk-watch.js';
import { isFileSystemFault } from './file-system-fault.js';

/** A fast upload could use up the reserve between two looks of the watch. */
const LOOK_BYTES = 8 * 1024 * 1024;

const RETRY_SECONDS = 10;

function unwritable(): ApiError {
  return retryLater(
    'unavailable',
    'The object store cannot be written. Reads go on. Try again when the operator has corrected it.',
    RETRY_SECONDS,
  );
}

/**
 * An object store that refuses writes while its disk is full, and reports a write that found no room. Reads and removals
 * pass. A refused write leaves no object and no file.
 * @throws {DiskFull} from the methods that write; {ApiError} unavailable, where the file system cannot be written
 */
export function watchedObjectStore(store: ObjectStore, disk: DiskWatch): ObjectStore {
  async function writing<Result>(write: () => Promise<Result>): Promise<Result> {
    disk.requireRoom('objects');
    try {
      return await write();
    } catch (error) {
      if (isFileSystemFault(error)) throw Object.assign(unwritable(), { cause: error });
      if (!isNoSpace(error)) throw error;
      disk.report('objects');
      throw Object.assign(new DiskFull('objects'), { cause: error });
    }
  }

  async function* whileRoom(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let unseen = 0;
    for await (const chunk of content) {
      unseen += chunk.length;
      if (unseen > LOOK_BYTES) {
        unseen = 0;
        await disk.look();
      }
      disk.requireRoom('objects');
      yield chunk;
    }
  }

  return {
    ...store,
    putNew: (key, bytes, staged) => writing(() => store.putNew(key, bytes, staged)),
    put: (key, bytes) => writing(() => store.put(key, bytes)),
    stage: (key, bytes) => writing(() => store.stage(key, bytes)),
    putStream: (key, content) => writing(() => store.putStream(key, whileRoom(content))),
  };
}
