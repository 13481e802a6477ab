import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Zippable, zipSync } from 'fflate';
import { ZIP_TIME } from '../../core/bundle/zip-time.js';
import { CLUSTER, openEmbedded } from './open-embedded.js';

/** Creates and migrates a cluster in a temporary folder, and returns it as a zip file. Empty folders are members of it. */
export async function archiveCluster(): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'archivist-prepare-'));
  try {
    await (await openEmbedded(folder)).close();
    const cluster = join(folder, CLUSTER);
    const members: Zippable = {};
    for (const entry of await readdir(cluster, { withFileTypes: true, recursive: true })) {
      const path = join(entry.parentPath, entry.name);
      const name = path.slice(cluster.length + 1).replaceAll('\\', '/');
      if (entry.isDirectory()) members[`${name}/`] = new Uint8Array();
      else members[name] = await readFile(path);
    }
    return zipSync(members, { mtime: ZIP_TIME });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
