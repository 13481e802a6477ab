import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DiskFull, type DiskUse, isNoSpace } from '../../../src/platform/disk/disk-full.js';
import type { DiskState } from '../../../src/platform/disk/disk-state.js';
import { createDiskWatch } from '../../../src/platform/disk/disk-watch.js';
import { watchedObjectStore } from '../../../src/platform/disk/watched-object-store.js';
import { fileObjectStore } from '../../../src/platform/file-object-store.js';

/** More than any disk has. */
const TOO_MUCH = Number.MAX_SAFE_INTEGER;

let folder: string;
let nowMs: number;
let lines: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'disk-watch-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(() => {
  nowMs = 0;
  lines = [];
});

const watch = (
  reserveBytes: number,
  servers: Partial<Record<DiskUse, () => Promise<boolean>>> = {},
  looked: (states: readonly DiskState[]) => void = () => undefined,
) =>
  createDiskWatch({
    folders: { objects: join(folder, 'not', 'made', 'yet') },
    servers,
    reserveBytes,
    now: () => nowMs,
    logger: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) }),
    looked,
  });

describe('the watch of the disks', () => {
  it('calls a disk full when less than the reserve is free, once it is started', async () => {
    const [strict, lax] = [watch(TOO_MUCH), watch(1)];
    expect(strict.isFull('objects')).toBe(false);
    for (const each of [strict, lax]) await each.start();
    expect([strict.isFull('objects'), lax.isFull('objects')]).toEqual([true, false]);
    expect(strict.states()).toEqual([{ use: 'objects', full: true, freeBytes: expect.any(Number) }]);
    expect(() => strict.requireRoom('database')).not.toThrow();
    expect(() => strict.requireRoom('database', 'objects')).toThrow(/^The disk of the object store is full/);
    for (const each of [strict, lax]) await each.close();
  });

  it('believes a write that found no room for some seconds, and says so at once', () => {
    const seen: unknown[] = [];
    const disk = watch(1, {}, (states) => seen.push(states.filter(({ full }) => full).map(({ use }) => use)));
    disk.report('database');
    expect(seen).toEqual([['database']]);
    expect(disk.isFull('database')).toBe(true);
    nowMs = 5_001;
    expect(disk.isFull('database')).toBe(false);
  });

  it('asks servers; one that does not answer is not called full', async () => {
    const disk = watch(1, { queue: async () => true, spool: () => Promise.reject(new Error('away')) });
    await disk.look();
    expect([disk.isFull('queue'), disk.isFull('spool')]).toEqual([true, false]);
  });

  it('logs a full disk once a minute, and the end of it', async () => {
    let full = true;
    const disk = watch(1, { queue: async () => full });
    for (nowMs of [0, 1_000, 59_000, 60_000, 61_000]) await disk.look();
    full = false;
    for (nowMs of [62_000, 63_000]) await disk.look();
    const [told, over] = [
      'the disk is full: captures that need it are refused until there is room',
      'there is room on the disk again',
    ];
    expect(lines).toEqual([told, told, over]);
  });
});

describe('a disk that only writes can tell about', () => {
  it('is logged once a minute while writes fail again and again, and as over when none has failed for a while', async () => {
    const disk = watch(1);
    for (nowMs = 0; nowMs < 90_000; nowMs += 1_000) {
      // Each report counts for five seconds; the next write then fails as well.
      if (!disk.isFull('database')) disk.report('database');
      await disk.look();
    }
    const full = 'the disk is full: writes are refused until there is room';
    expect(lines).toEqual([full, full]);
    for (; nowMs < 120_000; nowMs += 1_000) await disk.look();
    expect(lines.slice(2)).toEqual(['there is room on the disk again']);
  });
});

describe('an object store on a full disk', () => {
  const bytes = new Uint8Array([1, 2, 3]);

  it('refuses every write, and still reads, lists and removes', async () => {
    const objects = join(folder, 'objects');
    await fileObjectStore(objects).put('kept', bytes);
    const disk = watch(TOO_MUCH);
    await disk.look();
    const store = watchedObjectStore(fileObjectStore(objects), disk);
    const refused = { code: 'disk_full', use: 'objects', status: 507 };
    await expect(store.put('a', bytes)).rejects.toMatchObject(refused);
    await expect(store.putNew('a', bytes)).rejects.toMatchObject(refused);
    await expect(store.putStream('a', (async function* () {})())).rejects.toMatchObject(refused);
    expect(await store.get('kept')).toEqual(bytes);
    expect(await store.list('')).toEqual(['kept']);
    await store.remove('kept');
    expect(await readdir(objects)).toEqual([]);
  });

  it('ends an upload when the disk fills up meanwhile, and leaves no file of it', async () => {
    const objects = join(folder, 'uploads');
    const disk = watch(1);
    const store = watchedObjectStore(fileObjectStore(objects), disk);
    const upload = async function* () {
      yield bytes;
      disk.report('objects');
      yield bytes;
    };
    await expect(store.putStream('a', upload())).rejects.toBeInstanceOf(DiskFull);
    expect(await readdir(objects)).toEqual([]);
  });

  it.each(['ENOSPC', 'EDQUOT'])('reports a write that fails with %s', async (code) => {
    const disk = watch(1);
    const failing = { ...fileObjectStore(folder), put: () => Promise.reject(Object.assign(new Error(), { code })) };
    await expect(watchedObjectStore(failing, disk).put('a', bytes)).rejects.toMatchObject({ use: 'objects' });
    expect(disk.isFull('objects')).toBe(true);
  });

  it.each(['EROFS', 'EIO', 'EMFILE'])(
    'refuses a write that fails with %s for now: it is not full, and no fault of ours',
    async (code) => {
      const disk = watch(1);
      const cause = Object.assign(new Error(), { code });
      const failing = { ...fileObjectStore(folder), putStream: () => Promise.reject(cause) };
      const refusal = { status: 503, headers: { 'retry-after': '10' }, cause };
      await expect(watchedObjectStore(failing, disk).putStream('a', (async function* () {})())).rejects.toMatchObject(
        refusal,
      );
      expect(disk.isFull('objects')).toBe(false);
    },
  );
});

it.each([
  [{ code: '53100' }, true],
  [{ code: '58030', message: 'could not write: No space left on device' }, true],
  [{ code: '58030', message: 'could not read: Input/output error' }, false],
  [{ code: '53200' }, false],
  [undefined, false],
])('of the errors of PostgreSQL, only a full disk is one: %j', (error, expected) => {
  expect(isNoSpace(error)).toBe(expected);
});
