import { describe, expect, it } from 'vitest';
import { READ_TYPES } from '../../../src/platform/postgres/read-types.js';

const BYTEA = 17;

describe('bytes in an answer of PostgreSQL', () => {
  const parse = READ_TYPES.getTypeParser(BYTEA) as (text: string) => Buffer;

  it('are read from both formats', () => {
    expect(parse('\\x')).toEqual(Buffer.alloc(0));
    expect(parse('\\x00ffA1')).toEqual(Buffer.from([0, 255, 161]));
    expect(parse('a\\\\b\\000\\377')).toEqual(Buffer.from([97, 92, 98, 0, 255]));
    expect(parse('')).toEqual(Buffer.alloc(0));
  });

  it.each(['\\x6', '\\x6g', 'a\\400', '\\y61', '\\'])('are refused at once if they are none: %j', (text) => {
    expect(() => parse(text)).toThrow('cannot be read');
  });
});
