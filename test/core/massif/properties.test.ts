import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toHex } from '../../../src/core/bytes.js';
import { VerificationError } from '../../../src/core/errors.js';
import { massifPath, parseBlobPath, sealPath } from '../../../src/core/massif/blob-paths.js';
import { buildMassif } from '../../../src/core/massif/build-massif.js';
import {
  EPOCH,
  idtimestampAt,
  idtimestampHex,
  idtimestampMs,
  nextIdtimestamp,
  parseIdtimestampHex,
} from '../../../src/core/massif/idtimestamp.js';
import { massifOfLeaf, nodeStart, stackStart } from '../../../src/core/massif/massif-layout.js';
import { decodeMassifStart, encodeMassifStart } from '../../../src/core/massif/massif-start.js';
import { peakStackIndices } from '../../../src/core/massif/peak-stack.js';
import { readMassif } from '../../../src/core/massif/read-massif.js';
import { decodeTrieEntry, encodeTrieEntry, trieKey } from '../../../src/core/massif/trie-entry.js';
import { inclusionProofPath } from '../../../src/core/mmr/inclusion-proof-path.js';
import { mmrIndex, sizeOfLeaves } from '../../../src/core/mmr/leaf-count.js';
import { peaks } from '../../../src/core/mmr/peaks.js';
import { verifyInclusion } from '../../../src/core/mmr/verify-inclusion.js';
import { recomputeMassif } from '../../../src/core/verify/verify-massif.js';
import { flipBit, massifOf, type SampleLog, sampleLog } from './sample-log.js';

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const log = sampleLog('tenant/00000000-0000-4000-8000-000000000001', 200, (leaf) => `events/${leaf}`);

/** The log as it was at so many leaves. */
function logAt(leaves: number): SampleLog {
  return { entries: log.entries.slice(0, leaves), nodes: log.nodes.slice(0, Number(sizeOfLeaves(BigInt(leaves)))) };
}

function corrupt(file: Uint8Array): void {
  try {
    recomputeMassif(file);
  } catch (error) {
    expect(error).toBeInstanceOf(VerificationError);
    expect((error as VerificationError).code).toBe('massif_corrupt');
    return;
  }
  expect.unreachable('the massif was taken');
}

describe('idtimestamps', () => {
  const now = fc.integer({ min: 1_600_000_000_000, max: 2_000_000_000_000 });

  it('strictly increase whatever the clock does, and never run ahead of its highest time but by the sequence', () => {
    const step = fc.oneof(fc.constant(0), fc.integer({ min: -5, max: 5 }), fc.integer({ min: -1e9, max: 1e9 }));
    fc.assert(
      fc.property(now, fc.array(step, { maxLength: 200 }), (start, steps) => {
        let clock = start;
        let highest = start;
        let last = nextIdtimestamp(0n, clock);
        for (const [made, by] of steps.entries()) {
          clock += by;
          highest = Math.max(highest, clock);
          const next = nextIdtimestamp(last, clock);
          expect(next).toBeGreaterThan(last);
          expect(next - idtimestampAt(highest)).toBeLessThanOrEqual(BigInt(made + 1));
          last = next;
        }
      }),
    );
  });

  it('stay above a last id of another writer, across a restart', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 2n }), now, (last, time) => {
        expect(nextIdtimestamp(last, time)).toBeGreaterThan(last);
      }),
    );
  });

  it('take the millisecond of a clock that has moved on, and the next number of one that has not', () => {
    const first = nextIdtimestamp(0n, 1_700_000_000_000.9);
    expect([idtimestampMs(first), first & 0xffffffn]).toEqual([1_700_000_000_000, 0n]);
    expect(nextIdtimestamp(first, 1_700_000_000_000)).toBe(first + 1n);
    expect(nextIdtimestamp(first, 0)).toBe(first + 1n);
    const exhausted = first | 0xffffffn;
    expect(idtimestampMs(nextIdtimestamp(exhausted, 1_700_000_000_000))).toBe(1_700_000_000_001);
  });

  it('end with their epoch', () => {
    expect(() => nextIdtimestamp(2n ** 64n - 1n, 1_700_000_000_000)).toThrow(RangeError);
    expect(() => nextIdtimestamp(0n, 2 * (2 ** 40 - 1) + 1)).toThrow(RangeError);
    expect(() => nextIdtimestamp(0n, Number.NaN)).toThrow(RangeError);
  });

  it('survive their text form, which sorts as they do', () => {
    fc.assert(
      fc.property(uint64, uint64, (one, other) => {
        expect(parseIdtimestampHex(idtimestampHex(one))).toEqual({ epoch: EPOCH, id: one });
        expect(idtimestampHex(one) < idtimestampHex(other)).toBe(one < other);
        expect(idtimestampHex(one)).toMatch(/^01[0-9a-f]{16}$/);
      }),
    );
    for (const text of ['', '0x019148fcc832066400', '9148fcc832066400', '019148fcc83206640g'])
      expect(() => parseIdtimestampHex(text)).toThrow(VerificationError);
  });
});

describe('massif codecs', () => {
  it('read back any start record', () => {
    const start = fc.record({
      lastIdtimestamp: uint64,
      epoch: uint32,
      height: fc.integer({ min: 1, max: 24 }),
      index: uint32,
    });
    fc.assert(
      fc.property(start, fc.integer({ min: 0, max: 40 }), (value, offset) => {
        const padded = new Uint8Array(offset + 40);
        padded.set(encodeMassifStart(value), offset);
        expect(decodeMassifStart(padded.subarray(offset))).toEqual(value);
      }),
    );
  });

  it('read back any trie entry, at any offset', () => {
    const entry = fc.record({ key: bytes(32), extraBytes: bytes(24), idtimestamp: uint64 });
    fc.assert(
      fc.property(entry, fc.integer({ min: 0, max: 100 }), (value, offset) => {
        const padded = new Uint8Array(offset + 64);
        padded.set(encodeTrieEntry(value), offset);
        const read = decodeTrieEntry(padded, offset);
        expect([toHex(read.key), toHex(read.extraBytes), read.idtimestamp]).toEqual([
          toHex(value.key),
          toHex(value.extraBytes),
          value.idtimestamp,
        ]);
      }),
    );
    const short = { key: new Uint8Array(31), extraBytes: new Uint8Array(24), idtimestamp: 0n };
    expect(() => encodeTrieEntry(short)).toThrow(TypeError);
    expect(() => decodeTrieEntry(new Uint8Array(63))).toThrow(RangeError);
  });

  it('give other entries, and entries of other logs, other keys', () => {
    const logId = new Uint8Array(16);
    const keys = ['events/a', 'events/b'].flatMap((id) => [trieKey(logId, id), trieKey(Uint8Array.of(1), id)]);
    expect(new Set(keys.map(toHex)).size).toBe(4);
  });

  it('parse the blob names that they make, and no others', () => {
    const uuid = '84e0e9e9-d479-4d4e-9e8c-afc19a8fc185';
    fc.assert(
      fc.property(uint32, (number) => {
        expect(parseBlobPath(massifPath(uuid, number))).toEqual({ kind: 'massif', tenancyUuid: uuid, number });
        expect(parseBlobPath(sealPath(uuid, number))).toEqual({ kind: 'seal', tenancyUuid: uuid, number });
      }),
    );
    const good = massifPath(uuid, 7);
    const bad = [`/${good}`, `${good}/`, good.replace('/0/', '/1/'), good.replace('.log', '.sth'), good.toUpperCase()];
    for (const path of [...bad, good.replace('0000000000000007', '9999999999999999'), good.replace('e', '../')])
      expect(parseBlobPath(path)).toBeUndefined();
  });
});

describe('massif files', () => {
  it('at every length of a log, read and verify with the log’s peaks, and prove their leaves alone', () => {
    for (const height of [1, 2, 3, 4, 5]) {
      for (let leaves = 1; leaves <= 70; leaves++) {
        const massif = massifOfLeaf(height, BigInt(leaves - 1));
        const read = recomputeMassif(massifOf(logAt(leaves), height, massif));
        const size = sizeOfLeaves(BigInt(leaves));
        const nodeAt = (index: bigint) => log.nodes[Number(index)]!;
        expect(read).toMatchObject({ height, index: massif, epoch: EPOCH, size });
        expect(read.peaks).toEqual(peaks(size).map(nodeAt));
        expect(read.lastIdtimestamp).toBe(log.entries[leaves - 1]!.idtimestamp);
        for (const place of read.entries.keys()) {
          const index = mmrIndex(read.firstLeaf + BigInt(place));
          const path = inclusionProofPath(size, index).map(read.nodeAt);
          verifyInclusion(size, peaks(size).map(read.nodeAt), index, read.nodeAt(index), path);
        }
      }
    }
  });

  it('with any bit of a node, a peak that has been merged, or the start record turned are refused', () => {
    const file = massifOf(logAt(8), 2, 3);
    const merged = [...Array(2 * 32).keys()].map((offset) => stackStart(2) + offset);
    const interior = [...Array(3 * 32).keys()].map((offset) => nodeStart(2, 3) + offset);
    const checked = [...Array(23).keys(), 27, 28, 29, 30, 31, ...merged, ...interior];
    for (const offset of checked) for (let bit = 0; bit < 8; bit++) corrupt(flipBit(file, offset, bit));
  });

  it('that are cut short, run on, or end inside a leaf’s parents are refused', () => {
    const file = massifOf(logAt(8), 3, 1);
    for (let length = 0; length < file.length; length++) corrupt(file.subarray(0, length));
    expect(() => readMassif(file.subarray(0, nodeStart(3, 1) + 2 * 32))).toThrow('ends inside');
    corrupt(new Uint8Array([...file, ...new Uint8Array(32)]));
    corrupt(new Uint8Array([...file, 0]));
  });

  it('whose idtimestamps do not rise, or whose start record names another last one, are refused', () => {
    const parts = readMassif(massifOf(logAt(4), 3, 0));
    const nodes = log.nodes.slice(0, 7);
    const [first, second, third, fourth] = parts.entries as Required<typeof parts.entries>;
    const build = (entries: readonly (typeof first)[]) =>
      buildMassif({ height: 3, massif: 0, entries: entries.map((entry) => entry!), peakStack: [], nodes });
    recomputeMassif(build([first, second, third, fourth]));
    corrupt(build([first, third, second, fourth]));
    corrupt(build([first, second, second, fourth]));
    corrupt(flipBit(build([first, second, third, fourth]), 15));
  });

  it('are not built from parts that do not fit each other', () => {
    const entries = log.entries.slice(2, 4);
    const fitting = { height: 2, massif: 1, entries, peakStack: [log.nodes[2]!], nodes: log.nodes.slice(3, 7) };
    expect(readMassif(buildMassif(fitting)).size).toBe(7n);
    const unfit = [
      { ...fitting, entries: [] },
      { ...fitting, entries: log.entries.slice(2, 5) },
      { ...fitting, nodes: fitting.nodes.slice(1) },
      { ...fitting, peakStack: [] },
      { ...fitting, peakStack: [new Uint8Array(31)] },
      { ...fitting, massif: 3 },
    ];
    for (const parts of unfit) expect(() => buildMassif(parts)).toThrow(TypeError);
  });

  it('hold the peaks of the log before them', () => {
    expect(peakStackIndices(2, 7).map(Number)).toEqual([14, 21, 24]);
    expect(readMassif(massifOf(logAt(16), 2, 7)).peakStack).toEqual([14, 21, 24].map((index) => log.nodes[index]));
  });
});
