import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Zippable, zipSync } from 'fflate';
import { ZIP_TIME } from '../../core/bundle/zip-time.js';
import { CLUSTER, openEmbedded } from './open-embedded.js';

/**
 * Creates and migrates a cluster in a temporary folder, and returns it as a zip file of which each member is a gzip file,
 * for Node's own zlib: code that a process runs once is not compiled. Empty folders are members of it.
 */
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
      else members[`${name}.gz`] = gzipSync(await readFile(path));
    }
    return zipSync(members, { level: 0, mtime: ZIP_TIME });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
