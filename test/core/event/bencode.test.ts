import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bencode, compareUtf8 } from '../../../src/core/event/bencode.js';

const text = (value: unknown): string => new TextDecoder().decode(bencode(value));

describe('bencode', () => {
  it('writes strings with their length in bytes, lists, dictionaries, booleans and integers', () => {
    expect(text('日')).toBe('3:日');
    expect(text(['a', true, 5n, null, {}])).toBe('l1:ai1ei5edee');
    expect(text({ b: '2', a: '1', n: null })).toBe('d1:a1:11:b1:2e');
  });

  it('orders names by their UTF-8 bytes, where UTF-16 would differ', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (left, right) => {
        expect(Math.sign(compareUtf8(left, right))).toBe(Buffer.compare(Buffer.from(left), Buffer.from(right)));
      }),
    );
    expect(compareUtf8('\uff5e', '😀')).toBeLessThan(0);
    expect(text({ '😀': 'second', '\uff5e': 'first' })).toBe('d3:\uff5e5:first4:😀6:seconde');
  });

  it('orders the names of a map, few or many, in whatever order they come', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'binary-ascii', maxLength: 6 }), { maxLength: 100, size: 'max' });
    fc.assert(
      fc.property(names, (given) => {
        const map = Object.fromEntries(given.map((name) => [name, '']));
        const ordered = [...given].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
        expect(text(map)).toBe(`d${ordered.map((name) => `${name.length}:${name}0:`).join('')}e`);
      }),
    );
  });

  it('counts bytes wherever one text in the whole is not ASCII', () => {
    expect(text({ a: ['plain', 'é'], b: 'plain' })).toBe('d1:al5:plain2:ée1:b5:plaine');
    expect(text({ é: 'plain', z: 'plain' })).toBe('d1:z5:plain2:é5:plaine');
  });

  it('refuses a lone surrogate, which has no bytes', () => {
    expect(() => bencode({ a: 'plain', b: '\ud800' })).toThrow(TypeError);
    expect(() => bencode({ '\udc00': 'plain' })).toThrow(TypeError);
  });
});
