import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeOutput } from '../../src/cli/write-output.js';
import { mayMount } from '../support/small-disk.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'write-output-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('an output replaces the file of its name whole, where the name leads, and keeps its mode', async () => {
  const path = join(folder, 'evidence.zip');
  await writeFile(path, 'earlier');
  await chmod(path, 0o600);
  await symlink(path, join(folder, 'link'));
  // Who has it open sees the earlier bytes to their end: the file is never cut.
  const reader = await open(path);
  await writeOutput('--out', join(folder, 'link'), Buffer.from('new'));
  expect(await reader.readFile('utf8')).toBe('earlier');
  await reader.close();
  expect([await readFile(path, 'utf8'), (await stat(path)).mode & 0o777]).toEqual(['new', 0o600]);
  expect((await readdir(folder)).sort()).toEqual(['evidence.zip', 'link']);
});

it('an output into a folder that is missing makes none', async () => {
  await expect(writeOutput('--out', join(folder, 'typo', 'evidence.zip'), Buffer.from('new'))).rejects.toThrow(
    /^--out cannot be written: .*ENOENT/,
  );
  expect(await readdir(folder)).toEqual([]);
});

it.runIf(mayMount()).each(['rw', 'ro'])(
  'a file that is mounted alone is written in place (its folder is %s)',
  async (access) => {
    const [inside, outside] = [join(folder, 'container'), join(folder, 'outside')];
    const output = join(inside, 'output');
    await Promise.all([mkdir(inside), writeFile(outside, 'an earlier, longer text')]);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'vcon-archivist-test', inside]);
    try {
      await writeFile(output, '');
      execFileSync('mount', ['--bind', outside, output]);
      execFileSync('mount', ['-o', `remount,${access}`, inside]);
      await writeOutput('--out', output, Buffer.from('new'));
      expect([await readFile(outside, 'utf8'), await readdir(inside)]).toEqual(['new', ['output']]);
    } finally {
      execFileSync('umount', ['--recursive', inside]);
    }
  },
);

it('an output goes into a pipe as it is', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [read] = await Promise.all([readFile(pipe, 'utf8'), writeOutput('--out', pipe, Buffer.from('new'))]);
  expect(read).toBe('new');
});
