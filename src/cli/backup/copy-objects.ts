import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileObjectStore } from '../../platform/file-object-store.js';
import type { ObjectStore } from '../../platform/object-store.js';
import { belongingTo, missingObjects } from './belonging-objects.js';
import type { CopiedDatabase } from './copied-state-store.js';
import { OBJECTS } from './copy-manifest.js';
import { type HashedFile, hashing } from './hashed-file.js';

const AT_ONCE = 16;

/** An object of a copy. */
export interface CopiedObject extends HashedFile {
  readonly key: string;
}

interface CopiedObjects {
  readonly objects: readonly CopiedObject[];
  /** How many of them were not in the backup folder before. */
  readonly added: number;
  /** Keys of objects that the database needs and the store does not have. */
  readonly missing: readonly string[];
}

/**
 * Copies the objects that belong to a copy of the database and that earlier copies in this folder do not have.
 * @param known objects of the newest complete copy
 */
export async function copyObjects(
  source: ObjectStore,
  folder: string,
  state: CopiedDatabase,
  known: ReadonlyMap<string, CopiedObject>,
  progress: (text: string) => void,
): Promise<CopiedObjects> {
  const target = fileObjectStore(join(folder, OBJECTS));
  const belongs = belongingTo(state);
  const keys = (await source.list('')).filter((key) => belongs(key) === 'belongs');
  const objects: CopiedObject[] = [];
  let added = 0;
  const next = keys.values();
  const copySome = async (): Promise<void> => {
    for (const key of next) {
      const size = await sizeOf(join(folder, OBJECTS, key));
      const before = known.get(key);
      const copied = before && before.size === size ? before : await copyObject(source, target, key, size);
      if (copied !== before) added += 1;
      if (copied) objects.push(copied);
      if (objects.length % 500 === 0) progress(`objects: ${objects.length} of ${keys.length}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, copySome));
  objects.sort((left, right) => (left.key < right.key ? -1 : 1));
  return { objects, added, missing: missingObjects(state, new Set(objects.map(({ key }) => key))) };
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}

/** An earlier, interrupted run may have left the object: it is written again. */
async function copyObject(
  source: ObjectStore,
  target: ObjectStore,
  key: string,
  left: number | undefined,
): Promise<CopiedObject | undefined> {
  const content = await source.open(key);
  if (!content) return undefined;
  const hashed = hashing();
  if (left !== undefined) await target.remove(key);
  await target.putStream(key, hashed.through(content));
  return { key, ...hashed.result() };
}
