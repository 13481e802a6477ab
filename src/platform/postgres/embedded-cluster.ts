import { access, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { PGlite } from '@electric-sql/pglite';
import { syncFile, syncFolder } from '../durable-file.js';
import { DurableFiles } from './durable-files.js';
import { copyPreparedCluster } from './prepared-cluster.js';

/**
 * Start options of the engine. Without -F it syncs; with the fdatasync method, it did not sync every commit in tests. It
 * clears its buffers when it starts, so that all of them are resident: its own 128 MB were a third of the process. The
 * operating system keeps the files' pages as well.
 */
const START = [
  ...PGlite.defaultStartParams.filter((option) => option !== '-F'),
  ...['-c', 'wal_sync_method=fsync'],
  ...['-c', 'shared_buffers=64MB'],
];

/**
 * V8 compiles the engine's functions again, optimised, when they have run for about so many bytes of their code. With its
 * own 1.8 million, most of what a start runs was compiled while it ran: with data, a start took 1.5 s (median of five),
 * with this number 1.1 s. Under load, fourteen rounds showed no loss, but single rounds differed by half (Node 20, two
 * cores).
 */
const OPTIMISED_AFTER = 100_000_000;

/** Starts the engine on a cluster and recovers from a crash. */
export function openCluster(files: DurableFiles): Promise<PGlite> {
  setFlagsFromString(`--wasm-tiering-budget=${OPTIMISED_AFTER}`);
  return PGlite.create({ fs: files, startParams: START });
}

/**
 * Creates a cluster if it does not exist, from the build's archive if there is one; it is complete and on disk before
 * it gets its name. This is needed because the engine writes a new cluster without syncing, and accepts a partial one as
 * complete. A crash leaves a temporary folder that the next start removes.
 */
export async function makeCluster(cluster: string): Promise<void> {
  if (await exists(cluster)) return;
  const unfinished = `${cluster}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  if (!(await copyPreparedCluster(unfinished))) await (await openCluster(new DurableFiles(unfinished))).close();
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
  const entries = await readdir(folder, { withFileTypes: true });
  await Promise.all(
    entries.map((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return syncTree(path);
      return entry.isFile() ? syncFile(path) : undefined;
    }),
  );
  await syncFolder(folder);
}
