import { describe, expect, it } from 'vitest';
import { jsonRows } from '../../../src/platform/postgres/json-rows.js';

const row = (length: number) => ({ text: 'x'.repeat(length) });

describe('rows as JSON', () => {
  it('are all there, in their order', () => {
    const rows = Array.from({ length: 2_000 }, (_, number) => ({ number, text: 'x'.repeat(number) }));
    expect([...jsonRows(rows)].flatMap(({ json }) => JSON.parse(json))).toEqual(rows);
    expect([...jsonRows(rows)].flatMap((piece) => piece.rows)).toEqual(rows);
  });

  it('are one array if they are small, and none without rows', () => {
    expect([...jsonRows([row(1), row(2)])]).toHaveLength(1);
    expect([...jsonRows([])]).toEqual([]);
  });

  it('are so many arrays that none is longer than 96 KiB and one row', () => {
    const lengths = [...jsonRows(Array.from({ length: 1_000 }, () => row(8_000)))].map(({ json }) => json.length);
    expect(lengths.length).toBeGreaterThanOrEqual(75);
    expect(Math.max(...lengths)).toBeLessThan(96 * 1024 + 10_000);
  });
});
