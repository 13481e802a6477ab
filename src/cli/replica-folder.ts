import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SealedMassif } from '../core/verify/verify-log.js';
import { readInput, UsageError } from './evidence-file.js';

/** The files of one log in a folder, in log order. */
export interface ReplicaLog {
  /** Path of the folder that holds `massifs` and `massifseals`. */
  readonly path: string;
  /** Numbers of the massifs, without a gap. */
  readonly numbers: readonly number[];
  /** One massif and its seal. @throws {UsageError} if one of them is missing */
  read(number: number): Promise<SealedMassif>;
}

const MASSIFS = 'massifs';
const SEALS = 'massifseals';
const MOST_DEPTH = 6;

/**
 * Finds the logs in a replica folder, at any depth: `massifs/<16 digits>.log` beside `massifseals/<16 digits>.sth`, as
 * replication tools lay them out.
 * @throws {UsageError} when there is none, or a massif is missing between two others
 */
export async function findReplicas(folder: string): Promise<ReplicaLog[]> {
  const paths = await logFolders(folder, 0);
  if (paths.length === 0) throw new UsageError(`${folder} contains no ${MASSIFS} folder`);
  return Promise.all(paths.map(replicaLog));
}

async function logFolders(folder: string, depth: number): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => {
    throw new UsageError(`cannot read ${folder}`);
  });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  if (folders.includes(MASSIFS)) return [folder];
  if (depth === MOST_DEPTH) return [];
  return (await Promise.all(folders.map((name) => logFolders(join(folder, name), depth + 1)))).flat();
}

async function replicaLog(path: string): Promise<ReplicaLog> {
  const names = await readdir(join(path, MASSIFS));
  const numbers = names
    .flatMap((name) => /^(\d{16})\.log$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((left, right) => left - right);
  const [first] = numbers;
  if (first === undefined) throw new UsageError(`${join(path, MASSIFS)} contains no massif`);
  const gap = numbers.findIndex((number, place) => number !== first + place);
  if (gap >= 0) throw new UsageError(`massif ${first + gap} is missing in ${path}`);
  return {
    path,
    numbers,
    async read(number) {
      const name = String(number).padStart(16, '0');
      return {
        massif: await readInput(join(path, MASSIFS, `${name}.log`)),
        seal: await readInput(join(path, SEALS, `${name}.sth`)),
      };
    },
  };
}
