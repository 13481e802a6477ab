import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { completeCopies, readCopyManifest } from '../../src/cli/backup/copy-manifest.js';
import { packSecrets } from '../../src/cli/backup/sealed-secrets.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unreadable-copy-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('the newest copy is not passed over for an older one because its folder cannot be read', async () => {
  const [older, newest] = ['2026-11-20T10-00-00Z', '2026-11-21T10-00-00Z'].map((name) => join(folder, 'copies', name));
  await mkdir(older!, { recursive: true });
  await writeFile(join(older!, 'manifest.json'), '{}');
  expect(await completeCopies(folder)).toEqual(['2026-11-20T10-00-00Z']);
  // The system refuses to follow it.
  await symlink(newest!, newest!);
  await expect(completeCopies(folder)).rejects.toThrow(`${newest} cannot be read: `);
});

it('a copy whose manifest cannot be read is not called incomplete', async () => {
  await symlink('/proc/self/mem', join(folder, 'manifest.json'));
  await expect(readCopyManifest(folder)).rejects.toThrow('manifest.json cannot be read: ');
});

it('the first Owner’s credentials are not left out of a backup because they cannot be read', async () => {
  const places = { keysDir: join(folder, 'keys'), dataDir: folder };
  await mkdir(places.keysDir);
  expect((await packSecrets(places)).length).toBeGreaterThan(0);
  await symlink('/proc/self/mem', join(folder, 'credentials.json'));
  await expect(packSecrets(places)).rejects.toThrow('credentials.json cannot be read: ');
});
