import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fileMemory } from '../../plugins/memory/file-memory.js';

const DAY_MS = 86_400_000;

it('a wrong clock forgets nothing in the folder of the memory, and what it writes is kept for its days from then on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'memory-'));
  let now = Number.NaN;
  const memory = fileMemory(folder, () => now);
  const names = async () => {
    const found: string[] = [];
    for await (const name of memory.names('tap')) found.push(name);
    return found.sort();
  };
  try {
    await memory.write('tap', 'before', { captured: '1' });
    const [file] = await readdir(join(folder, 'tap', 'be'));
    await utimes(join(folder, 'tap', 'be', file!), 0, 0);
    await memory.write('tap', 'before', { left: '2' });
    await memory.write('tap', 'meanwhile', { left: '3' });
    expect([await memory.read('tap', 'before'), await names()]).toEqual([
      { captured: '1', left: '2' },
      ['before', 'meanwhile'],
    ]);
    // The clock was years behind, or ahead.
    now = Date.now() + 1_000 * DAY_MS;
    expect(await names()).toEqual(['before', 'meanwhile']);
    now += 13 * DAY_MS;
    expect(await memory.read('tap', 'meanwhile')).toEqual({ left: '3' });
    now += 2 * DAY_MS;
    expect([await memory.read('tap', 'meanwhile'), await names()]).toEqual([{}, []]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('takes a damaged file for none, and the next change replaces it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'memory-'));
  const memory = fileMemory(folder);
  try {
    await memory.write('vcons', 'abc', { payload: '1' });
    for (const damaged of ['', '{"payload"', 'null', '[]', '"text"']) {
      await writeFile(join(folder, 'vcons', 'ab', 'abc.json'), damaged);
      expect([damaged, await memory.read('vcons', 'abc')]).toEqual([damaged, {}]);
    }
    await memory.write('vcons', 'abc', { payload: '2' });
    expect(await memory.read('vcons', 'abc')).toEqual({ payload: '2' });
  } finally {
    await rm(folder, { recursive: true });
  }
});
