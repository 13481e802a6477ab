import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { manifestFile } from '../../../src/platform/keys/manifest/manifest-file.js';

const [OWN, OTHER] = ['0199c2d0-0000-7000-8000-000000000001', '0199c2d0-0000-7000-8000-000000000002'];

it('knows the manifest of another deployment, and takes no folder that it cannot read for one without any', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'manifest-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = manifestFile(folder, OWN);
  expect([await file.read(), await file.ofAnother()]).toEqual([undefined, false]);
  expect(await manifestFile(join(folder, 'absent'), OWN).ofAnother()).toBe(false);
  await writeFile(join(folder, `key-manifest-${OWN}.cose`), 'own');
  expect([await file.read(), await file.ofAnother()]).toEqual([new Uint8Array(Buffer.from('own')), false]);
  await writeFile(join(folder, `key-manifest-${OTHER}.cose`), 'other');
  expect(await file.ofAnother()).toBe(true);
  await symlink('loop', join(folder, 'loop'));
  await expect(manifestFile(join(folder, 'loop'), OWN).ofAnother()).rejects.toMatchObject({ code: 'ELOOP' });
});
