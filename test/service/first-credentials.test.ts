import { type FileHandle, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { credentialsPath, readCredentials, writeCredentials } from '../../src/service/first-credentials.js';

const CREDENTIALS = {
  client_id: 'c',
  client_secret: 's',
  token_endpoint: 'http://a/token',
  tenant_identity: 'tenant/t',
};
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'credentials-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** The inodes that are synced while something is done. */
async function syncedBy(work: () => Promise<void>): Promise<readonly number[]> {
  const inodes: number[] = [];
  const handle = await open(folder);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  const { sync } = prototype;
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    inodes.push((await this.stat()).ino);
    await sync.call(this);
  });
  try {
    await work();
  } finally {
    spy.mockRestore();
    await handle.close();
  }
  return inodes;
}

it('the first credentials are on disk, and their name in the folder too, when they are written', async () => {
  const synced = await syncedBy(() => writeCredentials(folder, CREDENTIALS));
  expect(synced).toContain((await stat(credentialsPath(folder))).ino);
  expect(synced.at(-1)).toBe((await stat(folder)).ino);
});

it('the first credentials are only for the owner of the file, and replace those of an unfinished start', async () => {
  await writeCredentials(folder, { ...CREDENTIALS, client_secret: 'of before' });
  await writeCredentials(folder, CREDENTIALS);
  expect(await readCredentials(folder)).toEqual(CREDENTIALS);
  expect((await stat(credentialsPath(folder))).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['credentials.json']);
});
