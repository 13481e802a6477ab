import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Replica, replicaIn } from '../core/evidence/replica-logs.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { readRegularFile } from './read-regular-file.js';

const MOST_DEPTH = 7;

/**
 * Finds the logs in a replica folder, and names every other file in it. Each file is read only when its massif is checked.
 * A folder that is nested too deeply to be of a log is named with `/` at its end.
 * @throws {UsageError} when there is none, or a massif is missing between two others
 */
export async function findReplica(folder: string): Promise<Replica> {
  return replicaIn(folder, await pathsIn(folder, '', MOST_DEPTH), (path) => readRegularFile(join(folder, path)));
}

async function pathsIn(folder: string, inside: string, depth: number): Promise<string[]> {
  const entries = await readdir(join(folder, inside), { withFileTypes: true }).catch(() => {
    throw new UsageError(`cannot read ${join(folder, inside)}`);
  });
  const paths: string[] = [];
  for (const entry of entries) {
    const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
    if (!entry.isDirectory()) paths.push(path);
    else if (depth === 0) paths.push(`${path}/`);
    else for (const each of await pathsIn(folder, path, depth - 1)) paths.push(each);
  }
  return paths;
}
