import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rememberManifest } from '../../src/cli/manifest-state.js';
import { checkNotBefore } from '../../src/cli/seen-manifest.js';
import { keyThumbprint } from '../../src/core/cose/cose-key.js';
import type { KeyManifest } from '../../src/core/keys/key-manifest.js';
import { signKeyManifest } from '../../src/core/keys/sign-key-manifest.js';
import {
  decodeKeyManifests,
  encodeKeyManifests,
  verifyKeyManifests,
} from '../../src/core/keys/verify-key-manifests.js';
import { sha256 } from '../../src/core/sha256.js';
import { firstManifest, nextManifest, sampleRoot } from '../core/keys/sample-manifests.js';

const root = sampleRoot(1);
const one = firstManifest(root.publicKey);
const sign = (manifest: KeyManifest) => signKeyManifest(manifest, root);

async function history(...manifests: Uint8Array[]) {
  return verifyKeyManifests(decodeKeyManifests(encodeKeyManifests(manifests)), keyThumbprint(root.publicKey));
}

it('key manifests are taken after one that was seen if they are of its history, and are refused otherwise', async () => {
  const first = await sign(one);
  const second = await sign(nextManifest(one, sha256(first), root.publicKey));
  const otherFirst = await sign({ ...one, issuedAtMs: one.issuedAtMs + 1 });
  const later = await sign({ ...nextManifest(one, sha256(first), root.publicKey), number: 9 });
  const otherBeginning = await sign({
    ...one,
    number: 9,
    previous: sha256(first),
    firstIssuedAtMs: one.issuedAtMs - 1,
  });
  const seen = async (bytes: Uint8Array) => (await history(bytes)).at(-1)!;
  const check = async (bytes: Uint8Array, ...given: Uint8Array[]) => {
    const [before, after] = [await seen(bytes), await history(...given)];
    return () => checkNotBefore(after, before);
  };
  for (const [before, ...given] of [
    [first, first],
    [first, second],
    [first, first, second],
    [first, later],
  ] as [Uint8Array, ...Uint8Array[]][])
    expect(await check(before, ...given)).not.toThrow();
  expect(await check(second, first)).toThrow('was seen before');
  expect(await check(otherFirst, first)).toThrow('two key manifests 1');
  expect(await check(otherFirst, second)).toThrow('two histories');
  expect(await check(otherFirst, first, second)).toThrow('two key manifests 1');
  expect(await check(first, otherBeginning)).toThrow('when the first manifest was made');
  const elsewhere = one.subject.replace(/3$/, '4');
  const logs = one.logs.map((log) => (log.kind === 'keys' ? { ...log, name: elsewhere } : log));
  const otherLog = await sign({ ...one, subject: elsewhere, logs });
  expect(await check(first, otherLog)).toThrow(`is of the keys log ${elsewhere}, the one that was seen before is of `);
});

it('a key manifest that was seen before is not written again, so its folder may be read-only by then', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'seen-manifest-'));
  const given = { history: await history(await sign(one)) };
  await rememberManifest(folder, given);
  const [name] = await readdir(folder);
  const { ino } = await stat(join(folder, name!));
  await rememberManifest(folder, given);
  expect((await stat(join(folder, name!))).ino).toBe(ino);
  await rm(folder, { recursive: true });
});
