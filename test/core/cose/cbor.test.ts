import { encode as oracle, rfc8949EncodeOptions } from 'cborg';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromHex, toHex } from '../../../src/core/bytes.js';
import {
  type CborLimits,
  type CborValue,
  decodeCbor,
  decodeCborSequence,
  encodeCbor,
} from '../../../src/core/cose/cbor.js';
import { processorMs } from '../../support/processor-time.js';

const integer = fc.oneof(
  fc.integer({ min: -300, max: 300 }),
  fc.maxSafeInteger(),
  fc.constantFrom(23, 24, 255, 256, 65535, 65536, 2 ** 32 - 1, 2 ** 32, -(2 ** 32), -(2 ** 32) - 1),
  fc.bigInt({ min: -(2n ** 64n) + 1n, max: 2n ** 64n - 1n }),
  fc.constantFrom(2n ** 32n - 1n, 2n ** 32n, -(2n ** 32n), -(2n ** 32n) - 1n, 2n ** 64n - 1n, -(2n ** 64n) + 1n),
);
const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.string({ minLength: 20, maxLength: 300 }));
const { value: values } = fc.letrec<{ value: CborValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 5 },
    integer,
    text,
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie('value'), { maxLength: 30 }),
    fc
      .uniqueArray(fc.tuple(fc.oneof(integer, text), tie('value')), { maxLength: 30, selector: ([key]) => String(key) })
      .map((entries) => new Map(entries)),
  ),
}));

/** A decoder only has one form of an integer: a number while it is safe. */
function normal(value: CborValue): CborValue {
  if (typeof value === 'bigint' || typeof value === 'number')
    return Number.isSafeInteger(Number(value)) ? Number(value) + 0 : value;
  if (Array.isArray(value)) return value.map(normal);
  if (value instanceof Map)
    return new Map([...value].map(([key, member]) => [normal(key) as number | bigint | string, normal(member)]));
  return value;
}

function hex(text: string): Uint8Array {
  return fromHex(text.replaceAll(' ', ''));
}

describe('encodeCbor', () => {
  it('is byte for byte the deterministic encoding of an independent library', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(toHex(encodeCbor(value))).toBe(toHex(oracle(value, rfc8949EncodeOptions)));
      }),
      { numRuns: 1500 },
    );
  });

  it('is undone by decodeCbor', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(decodeCbor(encodeCbor(value))).toEqual(normal(value));
      }),
      { numRuns: 500 },
    );
  });

  it('gives plain bytes of their own, not a view into a pool', () => {
    const encoded = encodeCbor('archive');
    expect(encoded.constructor).toBe(Uint8Array);
    expect(encoded.buffer.byteLength).toBe(encoded.length);
  });

  it.each([
    ['a float', 1.5],
    ['a number beyond the safe integers', 2 ** 53],
    ['an integer beyond 64 bits', 2n ** 64n],
    ['a negative integer that the encoder would tag', -(2n ** 64n)],
    ['a lone surrogate', 'a\ud800'],
    ['undefined', undefined as unknown as CborValue],
    ['a plain object', {} as unknown as CborValue],
    [
      'one key as number and as bigint',
      new Map<number | bigint, CborValue>([
        [1, 1],
        [1n, 2],
      ]),
    ],
  ])('refuses %s', (_, value) => {
    expect(() => encodeCbor(value)).toThrow(TypeError);
  });
});

describe('decodeCborSequence', () => {
  it('reads one value after the other, and nothing of an empty input', () => {
    fc.assert(
      fc.property(fc.array(values, { maxLength: 5 }), (sequence) => {
        const bytes = Buffer.concat(sequence.map((value) => encodeCbor(value)));
        expect(decodeCborSequence(new Uint8Array(bytes))).toEqual(sequence.map(normal));
      }),
      { numRuns: 200 },
    );
  });

  it('holds the limits for all values together', () => {
    expect(() => decodeCborSequence(fromHex('0102'), { maxItems: 1 })).toThrow(/too many/);
    expect(() => decodeCborSequence(fromHex('0102'), { maxBytes: 1 })).toThrow(/too long/);
    expect(() => decodeCborSequence(fromHex('0141'))).toThrow(/cut short/);
  });
});

describe('decodeCbor', () => {
  const nested = (depth: number) => `${'81'.repeat(depth)}00`;
  it.each<[string, string, CborLimits?]>([
    ['nothing', ''],
    ['bytes after the end', '0000'],
    ['a value cut short', '1a0000'],
    ['a text cut short', '6461'],
    ['an array cut short', '820'.concat('1')],
    ['one key twice', 'a2 01 00 01 00'],
    ['one text key twice', 'a2 6161 00 6161 00'],
    ['a byte-string key', 'a1 4101 00'],
    ['a key that is an array', 'a1 80 00'],
    ['an integer longer than it need be', '1817'],
    ['a two-byte integer that fits one', '1900ff'],
    ['an eight-byte integer that fits four', '1b00000000ffffffff'],
    ['a length longer than it need be', '5801 00'],
    ['an indefinite byte string', '5f4100ff'],
    ['an indefinite text', '7f6161ff'],
    ['an indefinite array', '9f00ff'],
    ['an indefinite map', 'bf0000ff'],
    ['a stray break', 'ff'],
    ['a reserved length', '1c'],
    ['a half float', 'f93c00'],
    ['a double', 'fb3ff0000000000000'],
    ['undefined', 'f7'],
    ['an unassigned simple value', 'f0'],
    ['a simple value in two bytes', 'f820'],
    ['a tag', 'c100'],
    ['a tag inside', '81c100'],
    ['text that is not UTF-8', '61ff'],
    ['text with an encoded surrogate', '63eda080'],
    ['text with an overlong character', '62c080'],
    ['an array that declares 2^32 members', '9affffffff'],
    ['an array that declares 2^64−1 members', '9bffffffffffffffff'],
    ['a map that declares 2^62 members', 'bb4000000000000000'],
    ['a byte string that declares 4 GiB', '5affffffff00'],
    ['a text that declares 2^63 bytes', '7b8000000000000000'],
    ['nesting beyond the limit', nested(17)],
    ['a hundred thousand arrays inside each other', nested(100_000)],
    ['more bytes than allowed', '4400000000', { maxBytes: 4 }],
    ['more values than allowed', '83000000', { maxItems: 3 }],
    ['no tag where one is asked for', '80', { tag: 18 }],
    ['another tag than the one asked for', 'd180', { tag: 18 }],
    ['the tag twice', 'd2d280', { tag: 18 }],
  ])('refuses %s', (_, bytes, limits) => {
    expect(() => decodeCbor(hex(bytes), limits)).toThrow(expect.objectContaining({ code: 'malformed' }));
  });

  it('refuses a fan-out bomb of arrays in bounded time', () => {
    const bomb = new Uint8Array(4 * 1024 * 1024).fill(0x80);
    bomb.set([0x9a, 0x00, 0x3f, 0xff, 0x00]);
    const start = processorMs();
    expect(() => decodeCbor(bomb)).toThrow(expect.objectContaining({ code: 'malformed' }));
    expect(processorMs() - start).toBeLessThan(10_000);
  });

  it('never throws anything but a VerificationError, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          decodeCbor(bytes);
        } catch (error) {
          expect(error).toMatchObject({ name: 'VerificationError', code: 'malformed' });
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('keeps integers beyond 2^53 exact and smaller ones numbers', () => {
    expect(decodeCbor(hex('1b9470003611017900'))).toBe(10696049347218471168n);
    expect(decodeCbor(hex('3bffffffffffffffff'))).toBe(-(2n ** 64n));
    expect(decodeCbor(hex('1b001fffffffffffff'))).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('keeps a leading byte order mark in a text', () => {
    expect(decodeCbor(hex('63efbbbf'))).toBe('\ufeff');
  });

  it('takes map keys in any order, as other signers write them', () => {
    expect(decodeCbor(hex('a2 04 00 01 00'))).toEqual(
      new Map([
        [4, 0],
        [1, 0],
      ]),
    );
  });

  it('hands out copies, so that a value outlives the input', () => {
    const input = hex('4101');
    const value = decodeCbor(input) as Uint8Array;
    input.fill(0);
    expect(value).toEqual(Uint8Array.of(1));
  });
});
