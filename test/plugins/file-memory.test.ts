import { mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { fileMemory } from '../../plugins/memory/file-memory.js';

const DAY_MS = 86_400_000;
/** Of a race in which one write of two hundred was lost. */
const ROUNDS = 100;

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

it('keeps what was written while old names are deleted from the list', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'memory-'));
  const memory = fileMemory(folder);
  const part = join(folder, 'vcons', 'aa');
  const list = async () => {
    for await (const _ of memory.names('vcons'));
  };
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const names = Array.from({ length: 20 }, (_, at) => `aa-${round}-${at}`);
      await Promise.all(names.map((name) => memory.write('vcons', name, { payload: 'old' })));
      for (const file of await readdir(part)) await utimes(join(part, file), 1, 1);
      const rewrite = async (name: string) => {
        await wait(Math.random() * 6);
        await memory.write('vcons', name, { payload: 'new' });
      };
      await Promise.all([list(), ...names.map(rewrite)]);
      for (const name of names) expect(await memory.read('vcons', name)).toEqual({ payload: 'new' });
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('deletes no name that it cannot look at', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'memory-'));
  const memory = fileMemory(folder);
  try {
    await memory.write('tap', 'abc', { left: '1' });
    const file = join(folder, 'tap', 'ab', 'abc.json');
    await rm(file);
    // Following this link fails, and not because it is absent.
    await symlink(file, file);
    const first = memory.names('tap')[Symbol.asyncIterator]().next();
    await expect(first).rejects.toThrow('ELOOP');
    expect(await readdir(join(folder, 'tap', 'ab'))).toEqual(['abc.json']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('what has changed since it was read is not forgotten by who read it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'memory-'));
  const memory = fileMemory(folder);
  try {
    await memory.write('tap', 'one', { left: '1' });
    const read = await memory.read('tap', 'one');
    await memory.write('tap', 'one', { captured: '2' });
    await memory.forget('tap', 'one', read);
    expect(await memory.read('tap', 'one')).toEqual({ left: '1', captured: '2' });
    await memory.forget('tap', 'one', await memory.read('tap', 'one'));
    expect(await memory.read('tap', 'one')).toEqual({});
  } finally {
    await rm(folder, { recursive: true });
  }
});
