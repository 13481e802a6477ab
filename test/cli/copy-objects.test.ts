import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { copyObjects } from '../../src/cli/backup/copy-objects.js';
import type { ObjectStore } from '../../src/platform/object-store.js';

const KEY = 'blobs/tenancy/blob';
const state = {
  ...{ deployment: 'chain', keysLog: 'keys', logs: [], blocks: [], lastBlock: 0, lastManifest: 0 },
  blobs: new Set(['tenancy/blob']),
};
let folder: string;
let objects: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copy-objects-'));
  objects = join(folder, 'objects', 'blobs', 'tenancy');
  await mkdir(objects, { recursive: true });
});
afterAll(() => rm(folder, { recursive: true }));

/** Copies from a store that has one object. */
function copyFrom(content: () => AsyncGenerator<Uint8Array>) {
  const store = { list: async () => [KEY], open: async () => Readable.from(content()) } as Partial<ObjectStore>;
  const request = { folder, known: new Map(), now: new Date(), progress: () => undefined };
  return copyObjects(store as ObjectStore, request, state);
}

it('an object that an earlier copy has stays, until it is replaced by a whole one', async () => {
  await writeFile(join(objects, 'blob'), 'earlier');
  const broken = copyFrom(async function* () {
    yield Buffer.from('a part');
    throw new Error('the store is away');
  });
  await expect(broken).rejects.toThrow('the store is away');
  expect(await readFile(join(objects, 'blob'), 'utf8')).toBe('earlier');

  const { added } = await copyFrom(async function* () {
    yield Buffer.from('again');
  });
  expect([added, await readFile(join(objects, 'blob'), 'utf8')]).toEqual([1, 'again']);
});

it('what a killed run has left is removed when nobody has written to it for an hour', async () => {
  const now = Date.now() / 1000;
  for (const [name, hours] of Object.entries({ '.unfinished-other-1': 2, '.unfinished-other-2': 0.5 })) {
    await writeFile(join(objects, name), 'a part');
    await utimes(join(objects, name), now, now - hours * 3600);
  }
  await copyFrom(async function* () {
    yield Buffer.from('again');
  });
  expect((await readdir(objects)).sort()).toEqual(['.unfinished-other-2', 'blob']);
});
