import { describe, expect, it } from 'vitest';
import { createIds, uuidAfter } from '../../src/platform/ids.js';

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

  it.each([
    ['of another process', '0190a8c0-12ab-7123-8123-456789abcdef', '0190a8c0-12ab-7123-8123-4568'],
    ['at the end of a field', '0190a8c0-12ab-7123-bfff-ffff89abcdef', '0190a8c0-12ab-7124-8000-0000'],
    ['at the end of its millisecond', '0190a8c0-12ab-7fff-bfff-ffff89abcdef', '0190a8c0-12ac-7000-8000-0000'],
  ])('follow one %s', (_which, earlier, beginning) => {
    const next = uuidAfter(earlier, createIds({ now: () => 1 }));
    expect(next.slice(0, 28)).toBe(beginning);
    expect(next).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
