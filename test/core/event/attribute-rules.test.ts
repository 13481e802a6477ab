import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AttributeError,
  checkAttributes,
  MAX_ATTRIBUTE_DEPTH,
  MAX_ATTRIBUTE_VALUES,
} from '../../../src/core/event/attribute-rules.js';
import { bencode } from '../../../src/core/event/bencode.js';

function refusal(value: unknown): AttributeError {
  try {
    checkAttributes(value, 'event_attributes');
  } catch (error) {
    if (error instanceof AttributeError) return error;
  }
  throw new Error('it was accepted');
}

function nested(levels: number): unknown {
  return levels === 0 ? 'end' : { deeper: nested(levels - 1) };
}

const admitted = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.string().filter((name) => !name.includes('\0')),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value;

describe('attribute rules', () => {
  it('names the place of a number or boolean, and says to send a string', () => {
    expect(refusal({ a: [{ b: 1 }] })).toMatchObject({ path: 'event_attributes.a[0].b' });
    for (const value of [1, 1.5, true, false]) expect(refusal({ value }).reason).toContain('send it as a string');
  });

  it('drops nulls from objects and lists and keeps everything else as it is', () => {
    expect(checkAttributes({ a: null, b: ['x', null, { c: null }], d: '' }, 'x')).toEqual({ b: ['x', {}], d: '' });
  });

  it('refuses U+0000 and lone surrogates in texts and names', () => {
    for (const value of [{ a: 'x\0' }, { a: '\ud800' }, { 'x\0': 'a' }, { '\udfff': 'a' }, { a: ['\udc00x'] }])
      expect(refusal(value).reason).toMatch(/U\+0000 or a lone surrogate/);
  });

  it('caps nesting and the number of values', () => {
    expect(() => checkAttributes(nested(MAX_ATTRIBUTE_DEPTH), 'x')).not.toThrow();
    expect(refusal(nested(MAX_ATTRIBUTE_DEPTH + 1)).reason).toContain('nested deeper');
    const list = Array.from({ length: MAX_ATTRIBUTE_VALUES }, () => 'v');
    expect(refusal({ list }).reason).toContain(`${MAX_ATTRIBUTE_VALUES}`);
  });

  it('keeps a member called __proto__ as data', () => {
    const cleaned = checkAttributes(JSON.parse('{"__proto__":{"a":"b"},"c":"d"}'), 'x');
    expect(JSON.stringify(cleaned)).toBe('{"__proto__":{"a":"b"},"c":"d"}');
  });

  it('lets through only what can be hashed, and hashes the same after cleaning', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'é', '😀'), admitted), (attributes) => {
        const cleaned = checkAttributes(attributes, 'x');
        expect(bencode(cleaned)).toEqual(bencode(attributes));
        expect(checkAttributes(cleaned, 'x')).toEqual(cleaned);
      }),
    );
  });
});
