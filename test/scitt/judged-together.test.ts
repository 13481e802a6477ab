import { describe, expect, it } from 'vitest';
import { judgedTogether } from '../../src/scitt/judged-together.js';

const statements = (count: number, bytes: number) => Array.from({ length: count }, () => new Uint8Array(bytes));
const sizes = (all: readonly Uint8Array[]) => [...judgedTogether(all)].map((some) => some.length);

describe('the statements of a bulk registration', () => {
  it('are judged 64 at a time if they are short', () => {
    expect(sizes(statements(130, 500))).toEqual([64, 64, 2]);
    expect(sizes([])).toEqual([]);
  });

  it('are judged at most 256 KiB at a time, and one alone if it is longer', () => {
    expect(sizes(statements(9, 64 * 1024))).toEqual([4, 4, 1]);
    expect(sizes([...statements(2, 300 * 1024), ...statements(3, 10)])).toEqual([1, 1, 3]);
  });

  it('are judged each once, in their order', () => {
    const all = [...statements(70, 1), ...statements(5, 200_000), ...statements(70, 3)];
    const judged = [...judgedTogether(all)].flat();
    expect(judged.length).toBe(all.length);
    expect(judged.every((statement, place) => statement === all[place])).toBe(true);
  });
});
