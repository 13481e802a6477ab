import { mkdir, mkdtemp, open, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { writeHashed } from '../../src/cli/backup/hashed-file.js';
import { rememberManifest } from '../../src/cli/manifest-state.js';
import { keptFiles } from '../../src/cli/monitor/kept-files.js';
import { prepareFolder } from '../../src/platform/open-object-store.js';
import { makeCluster } from '../../src/platform/postgres/embedded-cluster.js';
import { lockFolder } from '../../src/platform/postgres/folder-lock.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'folders-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

/** The paths that are synced while something is done. */
async function syncedBy(work: () => Promise<unknown>): Promise<ReadonlySet<string>> {
  const synced = new Set<string>();
  const handle = await open(folder, 'r');
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  const { sync } = prototype;
  vi.spyOn(prototype, 'sync').mockImplementation(async function (this: typeof handle) {
    await sync.call(this);
    synced.add(await readlink(`/proc/self/fd/${this.fd}`));
  });
  await work();
  return synced;
}

const newestManifest = { manifest: { subject: 'log', number: 1 }, bytes: new Uint8Array() };

it.runIf(process.platform === 'linux').each<[string, (path: string) => Promise<unknown>]>([
  ['a folder of the service', prepareFolder],
  ['the folder of the embedded database', async (path) => (await lockFolder(path)).release()],
  ['a folder of a copy', (path) => writeHashed(join(path, 'file'), Readable.from(['content']))],
  ['what a monitor keeps', (path) => keptFiles(path).write('size', new Uint8Array(1))],
  ['what a verifier remembers', (path) => rememberManifest(path, { history: [newestManifest] as never })],
])('%s, with every folder above it that was missing, is on disk when it is made', async (_, make) => {
  const made = join(folder, 'a', 'b', 'c');
  const synced = await syncedBy(() => make(made));
  expect([...synced]).toEqual(expect.arrayContaining([folder, join(folder, 'a'), dirname(made)]));
});

it.runIf(process.platform === 'linux')('a file of a copy is on disk with its name', async () => {
  const path = join(folder, 'database', 'file');
  const synced = await syncedBy(() => writeHashed(path, Readable.from(['content'])));
  expect([...synced]).toEqual(expect.arrayContaining([path, dirname(path)]));
});

it.runIf(process.platform === 'linux')(
  'a cluster that another process has made is not used before its name is on disk',
  async () => {
    const cluster = join(folder, 'embedded', 'postgres');
    await mkdir(cluster, { recursive: true });
    expect(await syncedBy(() => makeCluster(cluster))).toContain(dirname(cluster));
  },
);
