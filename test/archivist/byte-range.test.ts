import { describe, expect, it } from 'vitest';
import { byteRange } from '../../src/archivist/byte-range.js';

describe('byteRange', () => {
  it('reads first-last, open and suffix ranges within the length', () => {
    expect(byteRange('bytes=0-31', 100)).toEqual({ first: 0, last: 31 });
    expect(byteRange('bytes=90-200', 100)).toEqual({ first: 90, last: 99 });
    expect(byteRange('bytes=90-', 100)).toEqual({ first: 90, last: 99 });
    expect(byteRange('bytes=-10', 100)).toEqual({ first: 90, last: 99 });
    expect(byteRange('bytes=-1000', 100)).toEqual({ first: 0, last: 99 });
  });

  it('reads a single byte, the first, any and the last, and the whole as its own suffix', () => {
    for (const at of [0, 5, 99]) {
      expect(byteRange(`bytes=${at}-${at}`, 100)).toEqual({ first: at, last: at });
    }
    expect(byteRange('bytes=-100', 100)).toEqual({ first: 0, last: 99 });
    expect(byteRange('bytes=-1', 100)).toEqual({ first: 99, last: 99 });
  });

  it('tells a range behind the end from one that is not understood', () => {
    expect(byteRange('bytes=100-', 100)).toBe('unsatisfiable');
    expect(byteRange('bytes=-0', 100)).toBe('unsatisfiable');
    for (const odd of [undefined, 'bytes=-', 'bytes=5-2', 'bytes=0-1,4-5', 'items=0-1']) {
      expect(byteRange(odd, 100)).toBeUndefined();
    }
  });
});
