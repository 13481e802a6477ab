import { access, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { syncFile, syncFolder } from '../durable-file.js';
import { copyPreparedCluster } from './prepared-cluster.js';
import { type Engine, startEngine } from './start-engine.js';

/**
 * Creates a cluster if it does not exist, from the build's archive if there is one; it is complete and on disk before
 * it gets its name. This is needed because the engine writes a new cluster without syncing, and accepts a partial one as
 * complete. A crash leaves a temporary folder that the next start removes.
 */
export async function makeCluster(cluster: string): Promise<void> {
  // The process that renamed it may have been killed before its name was on disk.
  if (await exists(cluster)) return syncFolder(dirname(cluster));
  const unfinished = `${cluster}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  if (!(await copyPreparedCluster(unfinished))) await initialise(unfinished);
  await syncTree(unfinished);
  await rename(unfinished, cluster);
  await syncFolder(dirname(cluster));
}

async function initialise(folder: string): Promise<void> {
  const engine = await startEngine().open(folder);
  try {
    await dropTemplates(engine);
  } finally {
    await engine.close();
  }
}

/**
 * Databases are copies of them, and no other database is ever made here. They were half of the files that a first start
 * writes and syncs.
 */
async function dropTemplates({ config }: Engine): Promise<void> {
  const owner = new pg.Client(config);
  await owner.connect();
  for (const name of ['template0', 'template1']) {
    await owner.query(`ALTER DATABASE ${name} IS_TEMPLATE false`);
    await owner.query(`DROP DATABASE ${name}`);
  }
  await owner.end();
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
