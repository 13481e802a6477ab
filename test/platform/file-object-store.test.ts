import { mkdir, mkdtemp, open, readdir, readlink, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { utf8 } from '../../src/core/bytes.js';
import { fileObjectStore } from '../../src/platform/file-object-store.js';
import { refusalOf } from '../../src/platform/http/error-reply.js';
import type { ObjectStore } from '../../src/platform/object-store.js';
import { timedObjectStore } from '../../src/platform/timed-object-store.js';

let folder: string;
let store: ObjectStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'objects-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs before each sync of a file or folder, by its path. Resolves with the paths, which are added as they are synced. */
async function beforeEachSync(before: (path: string) => Promise<void>): Promise<readonly string[]> {
  const synced: string[] = [];
  const handle = await open(folder, 'r');
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  const { sync } = prototype;
  vi.spyOn(prototype, 'sync').mockImplementation(async function (this: typeof handle) {
    const path = await readlink(`/proc/self/fd/${this.fd}`);
    await before(path);
    synced.push(path);
    return sync.call(this);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  return synced;
}

const outside: Parameters<typeof timedObjectStore>[1] = { report: () => undefined };

describe.each([
  ['in a folder', fileObjectStore],
  ['in a folder, with time limits', (objects: string) => timedObjectStore(fileObjectStore(objects), outside)],
])('the object store %s', (_, openStore) => {
  beforeEach(() => {
    store = openStore(join(folder, 'deep', 'objects'));
  });

  it('refuses a read for now, and does not say that an object is missing, while the file system fails', async () => {
    await store.put('blobs/1', utf8('one'));
    // Nothing can be read at the beginning of a process's memory: Linux answers as for a broken disk.
    await symlink('/proc/self/mem', join(folder, 'deep', 'objects', 'blobs', '2'));
    const failure = await store.get('blobs/2').catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'ObjectStoreFailed', code: 'EIO' });
    expect(refusalOf(failure)).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
    expect(await store.get('blobs/1')).toEqual(utf8('one'));
  });

  it('says that the same object is there only when its name is on disk', async () => {
    await store.putNew('seals/a/0001', utf8('one'));
    const synced = await beforeEachSync(async () => undefined);
    expect(await store.putNew('seals/a/0001', utf8('one'))).toBe('same');
    expect(synced.at(-1)).toBe(join(folder, 'deep', 'objects', 'seals', 'a'));
  });

  it('says that an object is there only when the new folders on the way to it are on disk, whoever makes them', async () => {
    const objects = join(folder, 'deep', 'objects');
    await store.putNew('seals/a/0001', utf8('one'));
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let reach = () => {};
    const reached = new Promise<void>((resolve) => {
      reach = resolve;
    });
    const synced = await beforeEachSync(async (path) => {
      if (path !== join(objects, 'seals')) return;
      reach();
      await held;
    });
    const first = store.putNew('seals/b/c/0001', utf8('one'));
    await reached;
    const others = ['seals/b/c/0002', 'seals/b/d/0001'].map((key) => store.putNew(key, utf8(key)));
    expect(await Promise.race([first, ...others, wait(100, 'not yet')])).toBe('not yet');
    release();
    expect(await Promise.all([first, ...others])).toEqual(['created', 'created', 'created']);
    const made = synced.filter((path) => [join(objects, 'seals'), join(objects, 'seals', 'b')].includes(path));
    expect([...made].sort(), 'each entry of a new folder is synced once').toEqual([
      join(objects, 'seals'),
      join(objects, 'seals', 'b'),
      join(objects, 'seals', 'b'),
    ]);
  });

  it.each([0, 1, 40_000])('keeps %i bytes', async (length) => {
    const bytes = new Uint8Array(length).fill(7);
    expect(await store.putNew('k', bytes)).toBe('created');
    expect(Buffer.compare((await store.get('k'))!, bytes)).toBe(0);
  });

  it('removes what a killed process left unfinished long ago, and nothing else', async () => {
    const NOON = new Date('2026-11-22T12:00:00Z');
    await store.put('seals/a/0001', utf8('x'));
    const [left, used] = [await store.stage('seals/a/0002', utf8('y')), await store.stage('seals/b/0001', utf8('z'))];
    await utimes(left, NOON, NOON);
    await utimes(join(folder, 'deep', 'objects', 'seals', 'a', '0001'), NOON, NOON);
    expect(await store.removeUnfinished(NOON)).toBe(0);
    expect(await store.removeUnfinished(new Date(NOON.getTime() + 1))).toBe(1);
    expect(await readdir(join(folder, 'deep', 'objects', 'seals', 'a'))).toEqual(['0001']);
    expect(await store.putNew('seals/b/0001', utf8('z'), used)).toBe('created');
  });

  it('removes nothing where no object was ever written', async () => {
    expect(await store.removeUnfinished(new Date(8.64e15))).toBe(0);
  });

  it('does not say that an object is removed if its folder cannot be read', async () => {
    await mkdir(join(folder, 'deep'));
    await symlink('objects', join(folder, 'deep', 'objects'));
    await expect(store.remove('blobs/1')).rejects.toMatchObject({ code: 'ELOOP' });
  });

  it('passes over what a crash left unfinished', async () => {
    await store.put('m/1', utf8('x'));
    await writeFile(join(folder, 'deep', 'objects', 'm', '.unfinished-1234'), 'half');
    expect(await store.list('m/')).toEqual(['m/1']);
    expect(await store.putNew('m/2', utf8('y'))).toBe('created');
  });

  it('shows staged bytes to nobody before they are put, and keeps none that are put or discarded', async () => {
    const bytes = utf8('one');
    const staged = await Promise.all([1, 2, 3].map(() => store.stage('m/1', bytes)));
    expect(await store.get('m/1')).toBeUndefined();
    expect(await store.list('m/')).toEqual([]);
    expect(await store.putNew('m/1', bytes, staged[0])).toBe('created');
    expect(await store.putNew('m/1', bytes, staged[1])).toBe('same');
    await store.discard(staged[2]!);
    expect(await store.get('m/1')).toEqual(bytes);
    expect(await readdir(join(folder, 'deep', 'objects', 'm'))).toEqual(['1']);
  });

  it('leaves nothing but objects behind', async () => {
    await store.putNew('m/1', utf8('x'));
    await store.putNew('m/1', utf8('y'));
    await store.put('m/1', utf8('z'));
    expect(await readdir(join(folder, 'deep', 'objects', 'm'))).toEqual(['1']);
  });

  it('says whether it can be written by writing: permissions do not tell that a file system has failed', async () => {
    await utimes(folder, 1, 1);
    await openStore(folder).ping();
    expect((await stat(folder)).mtimeMs).toBeGreaterThan(1_000);
    expect(await readdir(folder)).toEqual([]);
  });
});
