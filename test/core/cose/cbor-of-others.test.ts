import { describe, expect, it } from 'vitest';
import { fromHex } from '../../../src/core/bytes.js';
import { decodeCbor } from '../../../src/core/cose/cbor.js';
import { CborFloat, halfFloat } from '../../../src/core/cose/cbor-float.js';
import { decodeSign1 } from '../../../src/core/cose/sign1.js';
import { decodeStatement } from '../../../src/core/statement/decode-statement.js';

const bytes = (hex: string) => fromHex(hex.replaceAll(' ', ''));
const ofOthers = (hex: string) => decodeCbor(bytes(hex), { ofOthers: true });

describe('CBOR that others signed', () => {
  /** RFC 8949, appendix A, and three that are not in the shortest form. */
  it.each<[string, number, string]>([
    ['f90000', 0, '0.0'],
    ['f98000', -0, '0.0'],
    ['f93c00', 1, '1.0'],
    ['f93e00', 1.5, '1.5'],
    ['f97bff', 65504, '65504.0'],
    ['f90001', 2 ** -24, '5.960464477539063e-8'],
    ['f90400', 0.00006103515625, '0.00006103515625'],
    ['f9c400', -4, '-4.0'],
    ['fa47c35000', 100000, '100000.0'],
    ['fa7f7fffff', 3.4028234663852886e38, '3.4028234663852886e+38'],
    ['fb3ff199999999999a', 1.1, '1.1'],
    ['fbc010666666666666', -4.1, '-4.1'],
    ['fb7e37e43c8800759c', 1e300, '1e+300'],
    ['fb41d9581e1b200000', 1700821100.5, '1700821100.5'],
    ['fa3f800000', 1, '1.0'],
    ['fb3ff0000000000000', 1, '1.0'],
    ['fb41d9581e1b000000', 1700821100, '1700821100.0'],
  ])('may have the float %s as a value: %d', (hex, value, text) => {
    const read = ofOthers(hex);
    expect(read).toEqual(new CborFloat(value));
    expect(String(read)).toBe(text);
    expect(() => decodeCbor(bytes(hex))).toThrow(/a float/);
  });

  it('never takes a float for the integer that it equals', () => {
    const read = ofOthers('a1 01 fbc01c000000000000') as Map<number, unknown>;
    expect(read.get(1)).not.toBe(-7);
    expect(typeof read.get(1)).toBe('object');
  });

  it('reads every half float as an independent library does', async () => {
    const { decode } = await import('cborg');
    for (let bits = 0; bits < 0x10000; bits += 1) {
      if (((bits >> 10) & 31) === 31) expect(halfFloat(bits)).toBeNaN();
      else expect(halfFloat(bits)).toBe(decode(Uint8Array.of(0xf9, bits >> 8, bits & 255)));
    }
  });

  it.each([
    ['a half NaN', 'f97e00'],
    ['a half infinity', 'f97c00'],
    ['a half infinity below zero', 'f9fc00'],
    ['a single NaN', 'fa7fc00000'],
    ['a single infinity', 'fa7f800000'],
    ['a double NaN', 'fb7ff8000000000000'],
    ['a double infinity', 'fbfff0000000000000'],
    ['a float as a key', 'a1 f93c00 00'],
    ['a float that is cut short', 'fb3ff199'],
    ['undefined', 'f7'],
    ['a simple value in two bytes', 'f814'],
    ['a reserved simple value', 'fc'],
    ['an indefinite list', '9f00ff'],
    ['an indefinite text', '7f6161ff'],
    ['a tag', 'c1 1a514b67b0'],
    ['an integer key twice, once longer than needed', 'a2 01 00 1801 00'],
    ['an integer key twice, once in eight bytes', 'a2 20 00 3b0000000000000000 00'],
    ['a text key twice, once with a longer length', 'a2 6161 00 780161 00'],
    ['a length beyond the input', '5b00000000000000ff00'],
    ['more values than are read', `9a00004001${'00'.repeat(16_385)}`],
    ['17 lists inside each other', `${'9801'.repeat(17)}00`],
    ['bytes after the end', 'f93c0000'],
  ])('may not have %s', (_, hex) => {
    expect(() => ofOthers(hex)).toThrow(expect.objectContaining({ code: 'malformed' }));
  });

  it.each<[string, string, unknown]>([
    ['an integer', '1a00000001', 1],
    ['a negative integer', '3b0000000000000000', -1],
    ['a byte string', '5900010a', Uint8Array.of(10)],
    ['a text', '7b0000000000000001 61', 'a'],
    ['a list', '990001 01', [1]],
    ['a map, as cbor-x writes objects', 'b90001 6161 01', new Map([['a', 1]])],
    ['a key', 'a1 190001 26', new Map([[1, -7]])],
  ])('may have longer heads than needed: %s', (_, hex, value) => {
    expect(ofOthers(hex)).toEqual(value);
    expect(() => decodeCbor(bytes(hex))).toThrow(/shorter/);
  });
});

describe('a COSE_Sign1', () => {
  /** Its protected header has a float, or its outer list or map a longer head. */
  it.each([
    ['a float in the protected header', 'd2 84 45a106f93c00 a0 40 40'],
    ['a float in the unprotected header', 'd2 84 40 a106f93c00 40 40'],
    ['a longer head in the protected header', 'd2 84 44a1180126 a0 40 40'],
    ['a longer head of a part', 'd2 84 40 a0 5800 40'],
    ['a longer head of the message', 'd2 9804 40 a0 40 40'],
  ])('of a statement may have %s, and no other message', (_, hex) => {
    expect(decodeStatement(bytes(hex)).payload).toEqual(new Uint8Array());
    expect(() => decodeSign1(bytes(hex))).toThrow(expect.objectContaining({ code: 'malformed' }));
  });

  it('is refused with its tag in more than one byte, also in a statement', () => {
    expect(() => decodeStatement(bytes('d812 84 40 a0 40 40'))).toThrow(/tag 18/);
  });

  it('has no label in both headers, in whatever encoding', () => {
    expect(() => decodeStatement(bytes('d2 84 43a10126 a1180126 40 40'))).toThrow(/both headers/);
  });
});
