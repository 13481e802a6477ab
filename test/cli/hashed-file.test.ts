import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readJsonLines, writeJsonLines } from '../../src/cli/backup/hashed-file.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hashed-file-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function* rows(count: number, failure?: Error): AsyncGenerator<unknown> {
  for (let row = 0; row < count; row += 1) yield [row, 'é'.repeat(100)];
  await wait(20);
  if (failure) throw failure;
}

async function all(path: string): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const value of readJsonLines(path)) values.push(value);
  return values;
}

it('what is written is read, and its size and hash are those of the file', async () => {
  const path = join(folder, 'new', 'rows.gz');
  const { size, sha256 } = await writeJsonLines(path, rows(5_000));
  const bytes = await readFile(path);
  expect([size, sha256]).toEqual([bytes.length, createHash('sha256').update(bytes).digest('hex')]);
  const read = await all(path);
  expect([read.length, read.at(-1)]).toEqual([5_000, [4_999, 'é'.repeat(100)]]);
  for await (const value of readJsonLines(path)) {
    expect(value).toEqual([0, 'é'.repeat(100)]);
    break;
  }
});

it('a source that fails midway, and a file that cannot be written, fail the write', async () => {
  const lost = new Error('the connection to the database was lost');
  for (const count of [0, 1, 5_000])
    await expect(writeJsonLines(join(folder, 'lost.gz'), rows(count, lost))).rejects.toBe(lost);
  await expect(writeJsonLines(folder, rows(5_000))).rejects.toThrow('EISDIR');
});

it('a file that is not there, is cut, or is no gzip fails the read', async () => {
  await expect(all(join(folder, 'none.gz'))).rejects.toThrow('ENOENT');
  const path = join(folder, 'cut.gz');
  await writeJsonLines(path, rows(5_000));
  const bytes = await readFile(path);
  await writeFile(path, bytes.subarray(0, bytes.length / 2));
  await expect(all(path)).rejects.toThrow('unexpected end of file');
  await writeFile(path, 'no gzip');
  await expect(all(path)).rejects.toThrow('incorrect header check');
});
