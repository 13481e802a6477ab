import { describe, expect, it } from 'vitest';
import { createIds } from '../../src/platform/ids.js';

describe('ids', () => {
  it('are UUIDv7 of the clock', () => {
    const id = createIds({ now: () => 0x0190a8c012ab }).uuid();
    expect(id).toMatch(/^0190a8c0-12ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('strictly increase, though the clock stands still, steps back or goes on', () => {
    let now = 1_790_000_000_000;
    const ids = createIds({ now: () => now });
    const made: string[] = [];
    for (let round = 0; round < 3000; round += 1) {
      if (round % 700 === 0) now -= 5_000;
      if (round % 11 === 0) now += 1;
      made.push(ids.uuid());
    }
    expect(made).toEqual([...made].sort());
    expect(new Set(made).size).toBe(made.length);
  });

  it('cannot be guessed from the one before', () => {
    const tails = Array.from({ length: 50 }, () =>
      createIds({ now: () => 1 })
        .uuid()
        .slice(14),
    );
    expect(new Set(tails).size).toBe(50);
  });
});
