import { describe, expect, it } from 'vitest';
import { readInGroups } from '../../../src/platform/postgres/read-in-groups.js';

const ITEMS = Array.from({ length: 1_000 }, (_, place) => place);

describe('what a thousand items have stored', () => {
  it('is read by statements of at most 125 items each, sent at once, in their order', async () => {
    const sizes: number[] = [];
    let running = 0;
    let mostRunning = 0;
    const read = await readInGroups(ITEMS, async (some) => {
      sizes.push(some.length);
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return some.map((item) => `row ${item}`);
    });
    expect(read).toEqual(ITEMS.map((item) => `row ${item}`));
    expect(Math.max(...sizes)).toBe(125);
    expect(mostRunning).toBe(8);
    expect(await readInGroups([], async () => ['never'])).toEqual([]);
  });

  it('fails with the first error, when no statement runs any more', async () => {
    let running = 0;
    const reading = readInGroups(ITEMS, async ([first]) => {
      running += 1;
      for (let turn = 0; turn <= first! % 7; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (first === 0) throw new Error('group 0');
      return [];
    });
    await expect(reading).rejects.toThrow('group 0');
    expect(running).toBe(0);
  });
});
