import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { removeUnfinishedFiles, replaceFile } from '../../platform/durable-file.js';
import { objectKey } from '../../platform/object-key.js';
import type { ObjectStore } from '../../platform/object-store.js';
import { belongingTo, missingObjects } from './belonging-objects.js';
import type { CopiedDatabase } from './copied-state-store.js';
import { OBJECTS } from './copy-manifest.js';
import { type HashedFile, hashing } from './hashed-file.js';

const AT_ONCE = 16;
const MODE = 0o644;
/** What nobody has written to for an hour was left by a killed run. */
const LEFT_AFTER_MS = 3_600_000;

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

interface ObjectsRequest {
  /** The backup folder. */
  readonly folder: string;
  /** Objects of the newest complete copy. */
  readonly known: ReadonlyMap<string, CopiedObject>;
  readonly now: Date;
  progress(text: string): void;
}

/**
 * Copies the objects that belong to a copy of the database and that earlier copies in this folder do not have. Each is
 * created or replaced whole: an earlier copy that has it too stays complete if this one is interrupted.
 */
export async function copyObjects(
  source: ObjectStore,
  { folder, known, now, progress }: ObjectsRequest,
  state: CopiedDatabase,
): Promise<CopiedObjects> {
  const target = join(folder, OBJECTS);
  await removeUnfinishedFiles(target, new Date(now.getTime() - LEFT_AFTER_MS));
  const belongs = belongingTo(state);
  const keys = (await source.list('')).filter((key) => belongs(key) === 'belongs');
  const objects: CopiedObject[] = [];
  let added = 0;
  const next = keys.values();
  const copySome = async (): Promise<void> => {
    for (const key of next) {
      const path = join(target, objectKey(key));
      const before = known.get(key);
      const isThere = before !== undefined && before.size === (await sizeOf(path));
      const copied = isThere ? before : await copyObject(source, key, path);
      if (!isThere) added += 1;
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

async function copyObject(source: ObjectStore, key: string, path: string): Promise<CopiedObject | undefined> {
  const content = await source.open(key);
  if (!content) return undefined;
  const hashed = hashing();
  await replaceFile(path, hashed.through(content), MODE);
  return { key, ...hashed.result() };
}
