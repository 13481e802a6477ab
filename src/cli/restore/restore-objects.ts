import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectStore } from '../../platform/object-store.js';
import { OBJECTS } from '../backup/copy-manifest.js';
import type { CopiedObject } from '../backup/copy-objects.js';
import { hashing } from '../backup/hashed-file.js';

const AT_ONCE = 16;

/**
 * Puts the objects of a copy into an object store. Each is hashed before it gets its name; one that is there already
 * is compared. So an interrupted run can be repeated.
 * @throws {Error} if an object of the copy is damaged, or the store has a different one
 */
export async function restoreObjects(
  backup: string,
  store: ObjectStore,
  objects: readonly CopiedObject[],
  progress: (text: string) => void,
): Promise<void> {
  const next = objects.values();
  let done = 0;
  const restoreSome = async (): Promise<void> => {
    for (const object of next) {
      await restoreObject(store, join(backup, OBJECTS, object.key), object);
      done += 1;
      if (done % 500 === 0) progress(`objects: ${done} of ${objects.length}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, restoreSome));
}

async function restoreObject(store: ObjectStore, path: string, object: CopiedObject): Promise<void> {
  const there = await store.open(object.key);
  if (there) {
    if (await isSame(there, object)) return;
    throw new Error(`the object store has another ${object.key} than the copy`);
  }
  await store.putStream(object.key, checked(path, object));
}

async function isSame(content: AsyncIterable<Uint8Array>, object: CopiedObject): Promise<boolean> {
  const hashed = hashing();
  for await (const _ of hashed.through(content));
  return hashed.result().sha256 === object.sha256;
}

/** Fails if the file is missing, or at the end of content that has another hash, so that no object is created from it. */
async function* checked(path: string, { key, sha256 }: CopiedObject): AsyncGenerator<Uint8Array> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? unusable(key, 'missing') : error;
  });
  const hashed = hashing();
  yield* hashed.through(file.createReadStream());
  if (hashed.result().sha256 !== sha256) throw unusable(key, 'damaged');
}

function unusable(key: string, fault: 'missing' | 'damaged'): Error {
  return new Error(
    `the object ${key} of the copy is ${fault}: take objects/${key} from another copy of the backup folder, then run the same command again`,
  );
}
