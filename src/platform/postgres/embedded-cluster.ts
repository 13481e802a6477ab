import { access, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { syncFile, syncFolder } from '../durable-file.js';
import { DurableFiles } from './durable-files.js';

/**
 * How the engine is started. Without -F it syncs; with fdatasync as the method it was seen not to call it at every commit.
 */
const START = [...PGlite.defaultStartParams.filter((option) => option !== '-F'), '-c', 'wal_sync_method=fsync'];

/** Starts the engine on a cluster; a crash is recovered from. */
export function openCluster(files: DurableFiles): Promise<PGlite> {
  return PGlite.create({ fs: files, startParams: START });
}

/**
 * Makes a cluster unless it is there, whole and on disk before it gets its name: the engine writes a new one without
 * syncing, and takes a half-made one for a whole one. A crash leaves a folder beside it that the next start removes.
 */
export async function makeCluster(cluster: string): Promise<void> {
  if (await exists(cluster)) return;
  const unfinished = `${cluster}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await (await openCluster(new DurableFiles(unfinished))).close();
  await syncTree(unfinished);
  await rename(unfinished, cluster);
  await syncFolder(dirname(cluster));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else if (entry.isFile()) await syncFile(path);
  }
  await syncFolder(folder);
}
