import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { replaceFile, UNFINISHED } from '../../src/platform/durable-file.js';
import { COLLECTIONS, type Collection, type Fields, type Memory } from './memory.js';

const DAY_MS = 86_400_000;
const EXTENSION = '.json';
const OWNER_ONLY = 0o600;
/** The date of a file that was written by a wrong clock, until a right one sees it. */
const UNDATED = new Date('2200-01-01T00:00:00Z');

/**
 * Turns a name into a file name: characters other than letters, digits, "-" and "." are escaped, so no name leaves its
 * folder.
 */
function fileOf(folder: string, collection: Collection, name: string): string {
  const safe = encodeURIComponent(name).replace(/^\./, '%2E');
  return join(folder, collection, safe.slice(0, 2).toLowerCase(), safe + EXTENSION);
}

const date = (path: string, time: Date): Promise<void> => utimes(path, time, time).catch(() => undefined);

/** A file of the future was written by a wrong clock: its days count from now. */
async function isOld(path: string, days: number, nowMs: number): Promise<boolean> {
  const { mtimeMs } = await stat(path);
  if (mtimeMs > nowMs + DAY_MS) await date(path, new Date(nowMs));
  return nowMs - mtimeMs > days * DAY_MS;
}

/** A damaged file counts as missing: the service knows the last hash too, and the next change replaces the file. */
function fieldsIn(text: string): Fields {
  try {
    const fields: unknown = JSON.parse(text);
    return typeof fields === 'object' && fields !== null && !Array.isArray(fields) ? (fields as Fields) : {};
  } catch {
    return {};
  }
}

/** Deletes a file if it is old. Resolves with true if the file is gone. */
async function removeOld(path: string, days: number, nowMs: number): Promise<boolean> {
  try {
    const old = await isOld(path, days, nowMs);
    if (old) await rm(path, { force: true });
    return old;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
}

async function readFields(path: string, days: number, nowMs: number): Promise<Fields> {
  try {
    return (await isOld(path, days, nowMs)) ? {} : fieldsIn(await readFile(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

async function list(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/**
 * The plugin's memory in a folder: a small file for each name, replaced as a whole, so that a crash leaves the old or
 * the new one. Only one process may use it. Files that were not changed for their collection's number of days are
 * deleted when names are listed.
 * @param now NaN while the clock is wrong: then nothing is old
 */
export function fileMemory(folder: string, now: () => number = Date.now): Memory {
  /** Changes to one file run one after the other. */
  const changing = new Map<string, Promise<unknown>>();

  function change<T>(path: string, work: () => Promise<T>): Promise<T> {
    const turn = (changing.get(path) ?? Promise.resolve()).catch(() => undefined).then(work);
    changing.set(path, turn);
    const done = (): void => {
      if (changing.get(path) === turn) changing.delete(path);
    };
    turn.then(done, done);
    return turn;
  }

  return {
    read: (collection, name) => readFields(fileOf(folder, collection, name), COLLECTIONS[collection], now()),
    write(collection, name, fields) {
      const path = fileOf(folder, collection, name);
      return change(path, async () => {
        const merged = { ...(await readFields(path, COLLECTIONS[collection], now())), ...fields };
        const kept = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
        await replaceFile(path, Buffer.from(JSON.stringify(kept)), OWNER_ONLY);
        if (Number.isNaN(now())) await date(path, UNDATED);
      });
    },
    forget(collection, name, unchanged) {
      const path = fileOf(folder, collection, name);
      return change(path, async () => {
        const isOther =
          unchanged && !isDeepStrictEqual(await readFields(path, COLLECTIONS[collection], now()), unchanged);
        if (!isOther) await rm(path, { force: true });
      });
    },
    // Its folder belongs to one process, which orders its captures itself.
    hold: async () => async () => undefined,
    async *names(collection) {
      for (const part of await list(join(folder, collection))) {
        for (const file of await list(join(folder, collection, part))) {
          const path = join(folder, collection, part, file);
          if (file.startsWith(UNFINISHED) || !file.endsWith(EXTENSION)) continue;
          // In turn with writes: one that replaces an old file has made it a new one.
          const gone = await change(path, () => removeOld(path, COLLECTIONS[collection], now()));
          if (!gone) yield decodeURIComponent(file.slice(0, -EXTENSION.length));
        }
      }
    },
    close: async () => undefined,
  };
}
