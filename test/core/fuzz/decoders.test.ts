import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { fromHex, toHex, utf8 } from '../../../src/core/bytes.js';
import { decodeCbor } from '../../../src/core/cose/cbor.js';
import { decodeCoseKeySet } from '../../../src/core/cose/cose-key.js';
import { readKeyDocument } from '../../../src/core/cose/key-document.js';
import { decodeSign1 } from '../../../src/core/cose/sign1.js';
import { VerificationError } from '../../../src/core/errors.js';
import { readMassif } from '../../../src/core/massif/read-massif.js';
import { mmrReceiptInForm, readMmrConsistencyReceipt, readMmrReceipt } from '../../../src/core/receipt/mmr-receipt.js';
import { readRfc9162ConsistencyReceipt, readRfc9162Receipt } from '../../../src/core/receipt/rfc9162-receipt.js';
import { decodeSealPayload, readSeal } from '../../../src/core/receipt/seal.js';
import { parseEventDocument } from '../../../src/core/statement/event-document.js';
import { readStatement } from '../../../src/core/statement/signed-statement.js';
import { readTransparentStatement } from '../../../src/core/statement/transparent-statement.js';
import { decodeCheckpoint } from '../../../src/core/tlog/checkpoint.js';
import { decodeNote, decodeVkey } from '../../../src/core/tlog/signed-note.js';
import { parseTilePath } from '../../../src/core/tlog/tile.js';
import { decodeTlogProof } from '../../../src/core/tlog/tlog-proof.js';
import { vconHashes } from '../../../src/core/vcon/vcon-hash.js';
import { recomputeMassif } from '../../../src/core/verify/verify-massif.js';
import { readFixtureFile } from '../../support/read-fixture-file.js';

/** Good inputs, in hex, by what they are: what is mutated. Whatever a run once broke on is added here. */
const CORPUS = readFixtureFile<Record<string, string[]>>('fuzz/corpus.json');
/** How long each decoder is fuzzed: in the suite until it has had some thousand inputs, in a night as long as one likes. */
const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 1);
const INPUTS = process.env['FUZZ_SECONDS'] ? 1_000_000_000 : 5_000;

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** Every decoder that takes bytes from a stranger, and which seeds it starts from. */
const DECODERS: Readonly<Record<string, readonly [seeds: readonly string[], decode: (bytes: Uint8Array) => unknown]>> =
  {
    decodeCbor: [['receipt', 'seal', 'statement'], (bytes) => decodeCbor(bytes)],
    decodeSign1: [['receipt', 'seal', 'statement', 'transparentStatement'], decodeSign1],
    readStatement: [['statement', 'transparentStatement'], readStatement],
    readTransparentStatement: [['transparentStatement', 'statement'], readTransparentStatement],
    readMmrReceipt: [['receipt'], readMmrReceipt],
    mmrReceiptInForm: [['receipt'], (bytes) => mmrReceiptInForm(bytes, 'map')],
    readMmrConsistencyReceipt: [['receipt'], readMmrConsistencyReceipt],
    readRfc9162Receipt: [['receipt'], readRfc9162Receipt],
    readRfc9162ConsistencyReceipt: [['receipt'], readRfc9162ConsistencyReceipt],
    readSeal: [['seal'], readSeal],
    decodeSealPayload: [['state'], decodeSealPayload],
    decodeCoseKeySet: [['keys', 'rsaKeys'], decodeCoseKeySet],
    readKeyDocument: [['keys', 'keyDocument', 'rsaKeyDocument'], readKeyDocument],
    readMassif: [['massif'], readMassif],
    recomputeMassif: [['massif'], recomputeMassif],
    parseEventDocument: [['event'], (bytes) => parseEventDocument(text(bytes))],
    vconHashes: [['vcon'], vconHashes],
    decodeNote: [['note'], (bytes) => decodeNote(text(bytes))],
    decodeCheckpoint: [['note'], (bytes) => decodeCheckpoint(text(bytes))],
    decodeVkey: [['vkey'], (bytes) => decodeVkey(text(bytes))],
    decodeTlogProof: [['tlogProof'], (bytes) => decodeTlogProof(text(bytes))],
    parseTilePath: [['tilePath'], (bytes) => parseTilePath(text(bytes))],
  };

type Mutation = (bytes: Uint8Array) => Uint8Array;
const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
/** Bytes that mean something to one of the formats: lengths, tags, borders of integers. */
const telling = fc.oneof(
  fc.constantFrom(
    0x00,
    0x17,
    0x18,
    0x1b,
    0x3b,
    0x5f,
    0x7f,
    0x80,
    0x9f,
    0xa0,
    0xbf,
    0xd2,
    0xf6,
    0xfb,
    0xff,
    0x22,
    0x5c,
    0x7b,
  ),
  fc.integer({ min: 0, max: 255 }),
);

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(place, fc.integer({ min: 0, max: 7 })).map(([at, bit]) => (bytes: Uint8Array) => {
    const copy = bytes.slice();
    if (copy.length > 0) copy[Math.floor(at * copy.length)]! ^= 1 << bit;
    return copy;
  }),
  fc.tuple(place, telling).map(([at, value]) => (bytes: Uint8Array) => {
    const copy = bytes.slice();
    if (copy.length > 0) copy[Math.floor(at * copy.length)] = value;
    return copy;
  }),
  place.map((at) => (bytes: Uint8Array) => bytes.slice(0, Math.floor(at * bytes.length))),
  fc.tuple(place, fc.uint8Array({ maxLength: 9 })).map(([at, more]) => (bytes: Uint8Array) => {
    const middle = Math.floor(at * bytes.length);
    return Uint8Array.of(...bytes.subarray(0, middle), ...more, ...bytes.subarray(middle));
  }),
  fc.tuple(place, place).map(([from, to]) => (bytes: Uint8Array) => {
    const [start, end] = [from, to].map((at) => Math.floor(at * bytes.length)).toSorted((a, b) => a - b);
    return Uint8Array.of(...bytes.subarray(0, end), ...bytes.subarray(start));
  }),
);

/** What a decoder did with an input that it must either take or refuse. */
function outcome(decode: (bytes: Uint8Array) => unknown, input: Uint8Array): unknown {
  try {
    decode(input);
    return undefined;
  } catch (error) {
    return error instanceof VerificationError ? undefined : error;
  }
}

describe('decoders of what strangers send', () => {
  const fuzzed: Record<string, number> = {};
  afterAll(() => void process.stdout.write(`inputs of each decoder: ${JSON.stringify(fuzzed)}\n`));

  it.each(Object.entries(DECODERS))(
    '%s takes an input or refuses it by name, whatever it is',
    (name, [seeds, decode]) => {
      const inputs = seeds.flatMap((kind) => CORPUS[kind] ?? []).map(fromHex);
      expect(inputs.length, `seeds of ${name}`).toBeGreaterThan(0);
      for (const input of [...inputs, ...(CORPUS['broken'] ?? []).map(fromHex)])
        expect(outcome(decode, input)).toBeUndefined();
      const input = fc
        .tuple(fc.constantFrom(...inputs), fc.array(mutation, { maxLength: 4 }))
        .map(([seed, changes]) => changes.reduce((bytes, change) => change(bytes), seed));
      fc.assert(
        fc.property(
          fc.oneof({ weight: 9, arbitrary: input }, { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }) }),
          (bytes) => {
            fuzzed[name] = (fuzzed[name] ?? 0) + 1;
            const error = outcome(decode, bytes);
            if (error !== undefined) throw new Error(`${name} broke on ${toHex(bytes)}`, { cause: error });
          },
        ),
        { numRuns: INPUTS, interruptAfterTimeLimit: SECONDS * 1000, markInterruptAsFailure: false },
      );
    },
    30_000 + SECONDS * 2000,
  );

  it.each([
    ['arrays inside each other', '81'.repeat(100_000)],
    ['maps inside each other', 'a100'.repeat(50_000)],
    ['an array of 2^32 values', '9affffffff'],
    ['a map of 2^63 keys', 'bb7fffffffffffffff'],
    ['a byte string that is longer than the file', '5b7fffffffffffffff'],
    ['tags inside each other', 'd2'.repeat(100_000)],
    ['an array without an end', `9f${'00'.repeat(10_000)}`],
  ])('refuse a bomb at once: %s', (_, hex) => {
    const bytes = fromHex(hex);
    for (const decode of [decodeCbor, decodeSign1, readSeal, readTransparentStatement] as const) {
      const before = process.memoryUsage().heapUsed;
      expect(() => decode(bytes)).toThrow(VerificationError);
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
    }
  });

  it('refuse JSON nested without end', () => {
    expect(outcome((bytes) => parseEventDocument(text(bytes)), utf8('{"a":'.repeat(100_000)))).toBeUndefined();
    expect(outcome(vconHashes, utf8('['.repeat(100_000)))).toBeUndefined();
  });
});
