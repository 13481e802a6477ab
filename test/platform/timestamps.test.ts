import { describe, expect, it } from 'vitest';
import { readTimestamp, timestampOf } from '../../src/platform/timestamps.js';

describe('timestamps', () => {
  it('keeps a UTC time letter by letter, for the leaf hashes the text', () => {
    expect(readTimestamp('2026-01-31T12:00:00Z', 'at').text).toBe('2026-01-31T12:00:00Z');
    expect(readTimestamp('2026-01-31T12:00:00.120000Z', 'at').text).toBe('2026-01-31T12:00:00.120000Z');
  });

  it('converts another offset to UTC', () => {
    expect(readTimestamp('2026-01-31T12:00:00+02:00', 'at').text).toBe('2026-01-31T10:00:00.000Z');
  });

  it('loses no digit of a fraction when it converts', () => {
    expect(readTimestamp('2026-01-31T12:00:00.123456+00:00', 'at').text).toBe('2026-01-31T12:00:00.123456Z');
    expect(readTimestamp('1960-01-31T12:00:00.1+02:00', 'at').text).toBe('1960-01-31T10:00:00.100Z');
    expect(readTimestamp('2026-01-31t12:00:00.123456789z', 'at').text).toBe('2026-01-31T12:00:00.123456789Z');
  });

  it('is before the next millisecond, and after its own one if it is finer than that', () => {
    const read = (text: string) => {
      const { unixMs, firstMs } = readTimestamp(text, 'at');
      return [unixMs, firstMs].map(timestampOf);
    };
    const [own, next] = ['2026-01-31T12:00:00.123Z', '2026-01-31T12:00:00.124Z'];
    for (const whole of [own, '2026-01-31T12:00:00.123000000Z']) expect(read(whole)).toEqual([own, own]);
    for (const finer of ['2026-01-31T12:00:00.1230001Z', '2026-01-31T14:00:00.123999999+02:00'])
      expect(read(finer)).toEqual([own, next]);
    expect(read('1960-01-31T12:00:00.123456Z')).toEqual(['1960-01-31T12:00:00.123Z', '1960-01-31T12:00:00.124Z']);
  });

  it('refuses what is no RFC 3339 time, naming the field', () => {
    for (const wrong of [
      'yesterday',
      '2026-01-31',
      '2026-13-01T00:00:00Z',
      '2026-01-31 12:00:00Z',
      '0000-01-01T00:00:00Z',
      '2026-01-31T24:00:00Z',
      '2026-01-31T23:59:60Z',
      '2026-01-31T12:00:00+24:00',
      '0001-01-01T00:00:00+00:01',
      '9999-12-31T23:59:00-00:01',
    ]) {
      expect(() => readTimestamp(wrong, 'timestamp_declared')).toThrow(/^timestamp_declared: /);
    }
  });

  it('is of the years 1 to 9999 in UTC', () => {
    for (const text of ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z'])
      expect(readTimestamp(text, 'at').text).toBe(text);
    expect(readTimestamp('9999-12-31T23:59:59+00:01', 'at').text).toBe('9999-12-31T23:58:59.000Z');
  });

  it('writes own times in UTC with three decimals', () => {
    expect(timestampOf(0)).toBe('1970-01-01T00:00:00.000Z');
  });
});
