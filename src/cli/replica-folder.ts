import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ReplicaLog, replicaLogs } from '../core/evidence/replica-logs.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { readRegularFile } from './read-regular-file.js';

const MOST_DEPTH = 7;

/**
 * Finds the logs in a replica folder. Each file is read only when its massif is checked.
 * @throws {UsageError} when there is none, or a massif is missing between two others
 */
export async function findReplicas(folder: string): Promise<readonly ReplicaLog[]> {
  return replicaLogs(folder, await pathsIn(folder, '', MOST_DEPTH), (path) => readRegularFile(join(folder, path)));
}

async function pathsIn(folder: string, inside: string, depth: number): Promise<string[]> {
  const entries = await readdir(join(folder, inside), { withFileTypes: true }).catch(() => {
    throw new UsageError(`cannot read ${join(folder, inside)}`);
  });
  const paths: string[] = [];
  for (const entry of entries) {
    const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
    if (!entry.isDirectory()) paths.push(path);
    else if (depth > 0) for (const each of await pathsIn(folder, path, depth - 1)) paths.push(each);
  }
  return paths;
}
