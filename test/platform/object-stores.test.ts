import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { concatBytes, utf8 } from '../../src/core/bytes.js';
import { fileObjectStore } from '../../src/platform/file-object-store.js';
import type { ObjectStore } from '../../src/platform/object-store.js';
import { s3ObjectStore } from '../../src/platform/s3/s3-object-store.js';
import { timedObjectStore } from '../../src/platform/timed-object-store.js';
import { s3ServerPath } from '../support/prerequisites.js';
import { makeS3Server, type S3Server } from '../support/s3-server.js';

const outside: Parameters<typeof timedObjectStore>[1] = { report: () => undefined };
let folder: string;
let server: S3Server | undefined;
let stores = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'objects-'));
  if (s3ServerPath) server = await makeS3Server();
});
afterAll(async () => {
  await server?.remove();
  await rm(folder, { recursive: true });
});

/** Each makes a new and empty store of its kind. */
const kinds = [
  ['in a folder', async () => fileObjectStore(join(folder, `${stores++}`, 'objects'))],
  [
    'in a folder, with time limits',
    async () => timedObjectStore(fileObjectStore(join(folder, `${stores++}`, 'objects')), outside),
  ],
  ['in a bucket', async () => s3ObjectStore(await server!.place(`bucket-${stores++}`))],
  ['under a path of a bucket', async () => s3ObjectStore(await server!.place('shared', `/deep/${stores++}`))],
] as const satisfies readonly (readonly [string, () => Promise<ObjectStore>])[];

describe.each(kinds)('the object store %s', (kind, openStore) => {
  let store: ObjectStore;
  beforeEach(async ({ skip }) => {
    skip(kind.includes('bucket') && !s3ServerPath);
    store = await openStore();
  });

  it('creates an object once, and says whether what stands there is the same', async () => {
    expect(await store.putNew('seals/a/0001', utf8('one'))).toBe('created');
    expect(await store.putNew('seals/a/0001', utf8('one'))).toBe('same');
    expect(await store.putNew('seals/a/0001', utf8('two'))).toBe('different');
    expect(await store.get('seals/a/0001')).toEqual(utf8('one'));
    expect(await store.get('seals/a/0002')).toBeUndefined();
    expect([await store.has('seals/a/0001'), await store.has('seals/a/0002')]).toEqual([true, false]);
  });

  it('lets exactly one of many writers create, and keeps that one whole', async () => {
    const bodies = Array.from({ length: 20 }, (_, index) => new Uint8Array(70_000).fill(index));
    const outcomes = await Promise.all(bodies.map((bytes) => store.putNew('k', bytes)));
    expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'different')).toHaveLength(19);
    expect(await store.get('k')).toEqual(bodies[outcomes.indexOf('created')]);
  });

  it('replaces whole: a reader sees one version or the other', async () => {
    const versions = [1, 2].map((fill) => new Uint8Array(500_000).fill(fill));
    await store.put('k', versions[0]!);
    const writing = (async () => {
      for (let round = 0; round < 20; round += 1) await store.put('k', versions[round % 2]!);
    })();
    for (let round = 0; round < 40; round += 1) {
      const seen = (await store.get('k'))!;
      expect(seen.length).toBe(500_000);
      expect(seen.every((byte) => byte === seen[0])).toBe(true);
    }
    await writing;
  });

  it('lists by prefix in order, also within a segment', async () => {
    for (const key of ['a/2', 'a/10', 'a/1', 'ab/1', 'b']) await store.put(key, utf8(key));
    expect(await store.list('a/')).toEqual(['a/1', 'a/10', 'a/2']);
    expect(await store.list('a')).toEqual(['a/1', 'a/10', 'a/2', 'ab/1']);
    expect(await store.list('')).toHaveLength(5);
    expect(await store.list('none/')).toEqual([]);
  });

  it('takes no key that leads out of its place', async () => {
    for (const key of ['../x', 'a/../../x', '/etc/passwd', 'a//b', '', '.hidden', 'a\0b', 'a/.unfinished-1'])
      await expect(store.put(key, utf8('x')), key).rejects.toThrow(TypeError);
  });

  it('uses what is staged for a key, and shows it to nobody before', async () => {
    const bytes = utf8('one');
    const staged = await store.stage('m/1', bytes);
    const unused = await store.stage('m/1', bytes);
    expect([await store.get('m/1'), await store.list('m/')]).toEqual([undefined, []]);
    expect(await store.putNew('m/1', bytes, staged)).toBe('created');
    await store.discard(unused);
    expect(await store.get('m/1')).toEqual(bytes);
    await expect(store.stage('.hidden', bytes)).rejects.toThrow(TypeError);
  });

  it.each([
    ['nothing', []],
    ['empty pieces', [0, 0]],
    ['a few bytes', [3]],
    ['pieces around eight MiB', [8 * 1024 * 1024 - 1, 1]],
    ['eight MiB and a byte', [8 * 1024 * 1024, 1]],
    ['many pieces', Array.from({ length: 400 }, () => 50_001)],
  ])('keeps a stream of %s, whole or in ranges', async (_, sizes) => {
    const pieces = sizes.map((size, index) => new Uint8Array(size).fill(index + 1));
    const whole = concatBytes(...pieces);
    const stream = async function* () {
      yield* pieces;
    };
    expect(await store.putStream('blobs/1', stream())).toEqual({ size: whole.length });
    expect(Buffer.compare(await buffer((await store.open('blobs/1'))!), whole)).toBe(0);
    if (whole.length > 0) {
      const range = { first: Math.floor(whole.length / 2), last: whole.length - 1 };
      const read = await buffer((await store.open('blobs/1', range))!);
      expect(Buffer.compare(read, whole.subarray(range.first))).toBe(0);
    }
    expect(await store.open('blobs/2')).toBeUndefined();
  });

  it.each([
    ['small', 10],
    ['large', 9 * 1024 * 1024],
  ])('keeps nothing of a %s stream that fails, and does not replace an object', async (_, size) => {
    let closed = 0;
    const stream = async function* (error?: Error) {
      try {
        yield new Uint8Array(size);
        if (error) throw error;
      } finally {
        closed += 1;
      }
    };
    await expect(store.putStream('blobs/1', stream(new Error('the client is gone')))).rejects.toThrow('gone');
    expect([await store.has('blobs/1'), await store.removeUnfinished(new Date(8.64e15))]).toEqual([false, 0]);
    await store.put('blobs/1', utf8('first'));
    await expect(store.putStream('blobs/1', stream())).rejects.toThrow('already exists');
    expect(await store.get('blobs/1')).toEqual(utf8('first'));
    expect([closed, await store.removeUnfinished(new Date(8.64e15))]).toEqual([2, 0]);
  });

  it('removes an object; without one, a removal does nothing', async () => {
    await store.put('m/1', utf8('x'));
    await store.remove('m/1');
    await store.remove('m/1');
    expect([await store.get('m/1'), await store.list('')]).toEqual([undefined, []]);
  });

  it('can be tried any number of times, and lists nothing of the trials', async () => {
    await store.put('m/1', utf8('x'));
    for (let tries = 0; tries < 3; tries += 1) await store.ping();
    expect(await store.list('')).toEqual(['m/1']);
  });
});
