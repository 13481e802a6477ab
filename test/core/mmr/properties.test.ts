import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatBytes, toHex, uint64ToBytes } from '../../../src/core/bytes.js';
import { VerificationError } from '../../../src/core/errors.js';
import { appendLeaves } from '../../../src/core/mmr/append-leaves.js';
import { consistencyProofPaths } from '../../../src/core/mmr/consistency-proof-paths.js';
import { consistentRoots } from '../../../src/core/mmr/consistent-roots.js';
import { hashPosPair64, hashPosPair64With } from '../../../src/core/mmr/hash-pos-pair64.js';
import { includedRoot } from '../../../src/core/mmr/included-root.js';
import { inclusionProofPath } from '../../../src/core/mmr/inclusion-proof-path.js';
import { indexHeight } from '../../../src/core/mmr/index-height.js';
import { isCompleteSize, leafCount, leafIndex, mmrIndex, sizeOfLeaves } from '../../../src/core/mmr/leaf-count.js';
import { peakOverLeaf } from '../../../src/core/mmr/peak-over-leaf.js';
import { peakSlot } from '../../../src/core/mmr/peak-slot.js';
import { peaks } from '../../../src/core/mmr/peaks.js';
import { bitLength, popcount, trailingZeros } from '../../../src/core/mmr/uint64-bits.js';
import { verifyInclusion } from '../../../src/core/mmr/verify-inclusion.js';
import { naiveHash, naiveMmr, naivePath, naivePeaks, naiveSize } from './naive-mmr.js';

const EVERY = 600;
const MANY = 100_000;
const leaves = Array.from({ length: MANY }, (_, leaf) => naiveHash(uint64ToBytes(BigInt(leaf))));
const naive = naiveMmr(leaves.slice(0, EVERY));
const large = appendLeaves(hashPosPair64, 0n, [], leaves);
const nodeAt = (index: bigint) => large.nodes[Number(index)]!;
const peaksAt = (size: bigint) => peaks(size).map(nodeAt);

/** Every node of a small tree; of a larger one its ends, the middle, and some that move with the size. */
function someOf(count: number): number[] {
  if (count <= 127) return Array.from({ length: count }, (_, index) => index);
  return [...new Set([0, 1, 2, count >> 1, (count * 7) % 97, (count * 13) % count, count - 3, count - 2, count - 1])];
}

function refused(check: () => unknown, code: string): void {
  try {
    check();
  } catch (error) {
    expect(error).toBeInstanceOf(VerificationError);
    expect((error as VerificationError).code).toBe(code);
    return;
  }
  expect.unreachable('the proof was taken');
}

describe('MMR against a naive model, every size', () => {
  it('appends the same nodes and peaks one by one and in batches of any size', () => {
    let grown = { nodes: [] as Uint8Array[], size: 0n, peaks: [] as Uint8Array[] };
    for (let count = 1; count <= EVERY; count++) {
      const from = Number(grown.size);
      grown = appendLeaves(hashPosPair64, grown.size, grown.peaks, [leaves[count - 1]!]);
      const size = naiveSize(naive, count);
      expect(Number(grown.size)).toBe(size);
      expect(grown.nodes).toEqual(naive.nodes.slice(from, size).map(({ hash }) => hash));
      expect(grown.peaks).toEqual(naivePeaks(naive, size).map(({ hash }) => hash));
    }
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 5 }), (batches) => {
        let at = { size: 0n, peaks: [] as Uint8Array[] };
        let done = 0;
        const nodes: Uint8Array[] = [];
        for (const batch of batches) {
          const next = appendLeaves(
            hashPosPair64,
            at.size,
            at.peaks,
            leaves.slice(done, Math.min(done + batch, EVERY)),
          );
          nodes.push(...next.nodes);
          done = Math.min(done + batch, EVERY);
          at = next;
        }
        const size = naiveSize(naive, done);
        expect(Number(at.size)).toBe(size);
        expect(toHex(concatBytes(...nodes))).toBe(
          toHex(concatBytes(...naive.nodes.slice(0, size).map(({ hash }) => hash))),
        );
      }),
      { numRuns: 40 },
    );
  });

  it('finds heights, leaf counts, indices, completeness and peaks', () => {
    const complete = new Set(Array.from({ length: EVERY + 1 }, (_, count) => naiveSize(naive, count)));
    for (let index = 0; index < naiveSize(naive, EVERY); index++)
      expect(indexHeight(BigInt(index))).toBe(naive.nodes[index]!.height);
    for (let count = 0; count <= EVERY; count++) {
      const size = BigInt(naiveSize(naive, count));
      expect([sizeOfLeaves(BigInt(count)), leafCount(size)]).toEqual([size, BigInt(count)]);
      expect(peaks(size).map(Number)).toEqual(naivePeaks(naive, Number(size)).map(({ index }) => index));
      if (count === EVERY) continue;
      expect(mmrIndex(BigInt(count))).toBe(size);
      for (let index = size; index < BigInt(naiveSize(naive, count + 1)); index++) {
        expect(leafIndex(index)).toBe(BigInt(count));
        expect(isCompleteSize(index)).toBe(complete.has(Number(index)));
      }
    }
  });

  it('finds the peak over a leaf among the peaks of its tree', () => {
    for (let count = 1; count <= EVERY; count++) {
      const tops = peaks(sizeOfLeaves(BigInt(count)));
      for (let leaf = 0; leaf < count; leaf += count > 127 ? 7 : 1) {
        const peak = peakOverLeaf(BigInt(count), BigInt(leaf));
        expect(peak.index).toBe(tops.find((top) => top >= mmrIndex(BigInt(leaf))));
        expect(peak.height).toBe(indexHeight(peak.index));
        expect(tops[peakSlot(BigInt(count), peak.height)]).toBe(peak.index);
      }
    }
    expect(() => peakOverLeaf(3n, 3n)).toThrow(RangeError);
    expect(() => peakOverLeaf(3n, -1n)).toThrow(RangeError);
  });

  it('proves inclusion of leaves and interior nodes', () => {
    for (let count = 1; count <= EVERY; count++) {
      const size = naiveSize(naive, count);
      const tops = naivePeaks(naive, size).map(({ hash }) => hash);
      for (const index of someOf(size)) {
        const { path, peak } = naivePath(naive, size, index);
        expect(inclusionProofPath(BigInt(size), BigInt(index)).join()).toBe(path.map((node) => node.index).join());
        const hashes = path.map(({ hash }) => hash);
        expect(toHex(includedRoot(BigInt(index), naive.nodes[index]!.hash, hashes))).toBe(toHex(peak.hash));
        verifyInclusion(BigInt(size), tops, BigInt(index), naive.nodes[index]!.hash, hashes);
      }
    }
  });

  it('proves consistency with older sizes', () => {
    for (let count = 1; count <= EVERY; count++) {
      const size = naiveSize(naive, count);
      for (const older of someOf(count + 1)) {
        const oldSize = naiveSize(naive, older);
        const oldPeaks = naivePeaks(naive, oldSize);
        const proofs = oldPeaks.map(({ index }) => naivePath(naive, size, index));
        const paths = proofs.map(({ path }) => path.map((node) => node.index));
        expect(consistencyProofPaths(BigInt(oldSize), BigInt(size)).join(';')).toBe(paths.join(';'));
        const roots = consistentRoots(
          BigInt(oldSize),
          oldPeaks.map(({ hash }) => hash),
          proofs.map(({ path }) => path.map(({ hash }) => hash)),
        );
        expect(roots.map(toHex).join()).toBe([...new Set(proofs.map(({ peak }) => toHex(peak.hash)))].join());
      }
    }
  });
});

const place = fc
  .integer({ min: 1, max: MANY })
  .chain((count) => fc.record({ count: fc.constant(count), pick: fc.integer({ min: 0, max: count - 1 }) }));

describe('MMR of many leaves', () => {
  it('proves inclusion and consistency with paths of logarithmic length', () => {
    fc.assert(
      fc.property(place, ({ count, pick }) => {
        const size = sizeOfLeaves(BigInt(count));
        const index = mmrIndex(BigInt(pick));
        const path = inclusionProofPath(size, index);
        expect(path.length).toBeLessThan(bitLength(BigInt(count)));
        verifyInclusion(size, peaksAt(size), index, nodeAt(index), path.map(nodeAt));
        const oldSize = sizeOfLeaves(BigInt(pick));
        const paths = consistencyProofPaths(oldSize, size).map((one) => one.map(nodeAt));
        const roots = consistentRoots(oldSize, peaksAt(oldSize), paths);
        expect(roots).toEqual(peaksAt(size).slice(0, roots.length));
      }),
      { numRuns: 1_000 },
    );
  });

  it('refuses an inclusion proof with a flipped bit, a node more or less, or another index or size', () => {
    fc.assert(
      fc.property(place, fc.nat(), fc.integer({ min: 1, max: 1_000 }), ({ count, pick }, seed, other) => {
        const size = sizeOfLeaves(BigInt(count));
        const tops = peaksAt(size);
        const index = mmrIndex(BigInt(pick));
        const value = nodeAt(index);
        const path = inclusionProofPath(size, index).map(nodeAt);
        const flipped = [value, ...path].map((hash) => hash.slice());
        flipped[seed % flipped.length]![seed % 32]! ^= 1 << (seed % 8);
        const at = seed % (path.length + 1);
        const wrong: [bigint, bigint, Uint8Array, Uint8Array[]][] = [
          [size, index, flipped[0]!, flipped.slice(1)],
          [size, index, value, path.toSpliced(at, 0, leaves[seed % MANY]!)],
          [size, size === 1n ? 1n : (index + 1n + (BigInt(other) % (size - 1n))) % size, value, path],
          [size, -1n, value, path],
          [size, size, value, path],
          [isCompleteSize(size + 1n) ? size - 1n : size + 1n, index, value, path],
          [size, index, value.subarray(1), path],
        ];
        if (path.length > 0) {
          wrong.push([size, index, value, path.toSpliced(at % path.length, 1)]);
          wrong.push([size, index, value, path.with(at % path.length, path[at % path.length]!.subarray(0, 31))]);
        }
        for (const [s, i, v, p] of wrong) refused(() => verifyInclusion(s, tops, i, v, p), 'inclusion_path_invalid');
        refused(() => verifyInclusion(size, tops.slice(1), index, value, path), 'inclusion_path_invalid');
        refused(() => verifyInclusion(size, [...tops, value], index, value, path), 'inclusion_path_invalid');
      }),
      { numRuns: 500 },
    );
  });

  it('refuses a consistency proof that was changed, by its code or by leading to other peaks', () => {
    fc.assert(
      fc.property(place, fc.nat(), ({ count, pick }, seed) => {
        const size = sizeOfLeaves(BigInt(count));
        const oldSize = sizeOfLeaves(BigInt(pick + 1));
        const oldPeaks = peaksAt(oldSize);
        const paths = consistencyProofPaths(oldSize, size).map((path) => path.map(nodeAt));
        const honest = consistentRoots(oldSize, oldPeaks, paths);
        const slot = seed % paths.length;
        const flipped = oldPeaks.map((peak) => peak.slice());
        flipped[slot]![seed % 32]! ^= 1 << (seed % 8);
        expect(consistentRoots(oldSize, flipped, paths)).not.toEqual(honest);
        const longer = paths.with(slot, [...paths[slot]!, leaves[seed % MANY]!]);
        expect(consistentRoots(oldSize, oldPeaks, longer)).not.toEqual(honest);
        if (paths[slot]!.length > 0)
          expect(consistentRoots(oldSize, oldPeaks, paths.with(slot, paths[slot]!.slice(1)))).not.toEqual(honest);
        refused(() => consistentRoots(oldSize, oldPeaks, paths.slice(1)), 'consistency_invalid');
        refused(() => consistentRoots(oldSize, oldPeaks.slice(1), paths), 'consistency_invalid');
        refused(() => consistentRoots(oldSize, oldPeaks, [...paths, []]), 'consistency_invalid');
        refused(
          () => consistentRoots(oldSize, oldPeaks, paths.with(slot, [leaves[0]!.subarray(1)])),
          'consistency_invalid',
        );
        if (!isCompleteSize(oldSize + 1n))
          refused(() => consistentRoots(oldSize + 1n, oldPeaks, paths), 'consistency_invalid');
      }),
      { numRuns: 500 },
    );
  });
});

describe('MMR arithmetic at its edges', () => {
  it('refuses what no tree has', () => {
    expect(() => inclusionProofPath(11n, 11n)).toThrow(RangeError);
    expect(() => inclusionProofPath(11n, -1n)).toThrow(RangeError);
    expect(() => inclusionProofPath(0n, 0n)).toThrow(RangeError);
    expect(() => inclusionProofPath(12n, 0n)).toThrow(RangeError);
    expect(() => consistencyProofPaths(7n, 4n)).toThrow(RangeError);
    expect(() => appendLeaves(hashPosPair64, 3n, [], [])).toThrow(RangeError);
    expect(() => appendLeaves(hashPosPair64, 2n, [leaves[0]!], [])).toThrow(RangeError);
    expect(() => appendLeaves(hashPosPair64, 0n, [], [new Uint8Array(31)])).toThrow(TypeError);
    expect(isCompleteSize(-1n)).toBe(false);
    const tooLong = Array.from({ length: 65 }, () => leaves[0]!);
    refused(() => includedRoot(0n, leaves[0]!, tooLong), 'inclusion_path_invalid');
    refused(() => includedRoot(2n ** 63n, leaves[0]!, []), 'inclusion_path_invalid');
  });

  it('refuses a peak passed off as a leaf below it, by an empty path', () => {
    const [peak] = peaksAt(7n);
    expect(includedRoot(0n, peak!, [])).toEqual(peak);
    refused(() => verifyInclusion(7n, [peak!], 0n, peak!, []), 'inclusion_path_invalid');
  });

  it('grows the same tree by another implementation of SHA-256', () => {
    const grown = appendLeaves(hashPosPair64With(naiveHash), 0n, [], leaves.slice(0, 7));
    expect(grown.nodes).toEqual(large.nodes.slice(0, Number(grown.size)));
  });

  it('answers bit questions over the whole of 64 bits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), fc.integer({ min: 0, max: 63 }), (number, shift) => {
        const value = BigInt.asUintN(64, number << BigInt(shift)) || 1n;
        const bits = value.toString(2);
        expect(bitLength(value)).toBe(bits.length);
        expect(popcount(value)).toBe(bits.replaceAll('0', '').length);
        expect(trailingZeros(value)).toBe(bits.length - 1 - bits.lastIndexOf('1'));
      }),
    );
    expect([bitLength(0n), popcount(0n)]).toEqual([0, 0]);
    expect(() => trailingZeros(0n)).toThrow(RangeError);
  });

  it('answers proofs in a tree of 2^62 leaves', () => {
    const size = sizeOfLeaves(2n ** 62n);
    expect(peaks(size)).toEqual([size - 1n]);
    expect(inclusionProofPath(size, mmrIndex(2n ** 62n - 1n)).length).toBe(62);
    expect(leafCount(size)).toBe(2n ** 62n);
    expect(indexHeight(size - 1n)).toBe(62);
  });
});
