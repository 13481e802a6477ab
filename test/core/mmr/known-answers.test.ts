import { describe, expect, it } from 'vitest';
import { toHex, uint64ToBytes } from '../../../src/core/bytes.js';
import { appendLeaves } from '../../../src/core/mmr/append-leaves.js';
import { baggedRoot } from '../../../src/core/mmr/bagged-root.js';
import { consistencyProofPaths } from '../../../src/core/mmr/consistency-proof-paths.js';
import { consistentRoots } from '../../../src/core/mmr/consistent-roots.js';
import { hashPosPair64 } from '../../../src/core/mmr/hash-pos-pair64.js';
import { includedRoot } from '../../../src/core/mmr/included-root.js';
import { inclusionProofPath } from '../../../src/core/mmr/inclusion-proof-path.js';
import { indexHeight } from '../../../src/core/mmr/index-height.js';
import { isCompleteSize, leafCount, leafIndex, mmrIndex, sizeOfLeaves } from '../../../src/core/mmr/leaf-count.js';
import { peakSlot } from '../../../src/core/mmr/peak-slot.js';
import { peaks } from '../../../src/core/mmr/peaks.js';
import { sha256 } from '../../../src/core/sha256.js';
import { fixture } from './shared-vectors.js';

const tree = fixture<{
  nodes: string[];
  heights: number[];
  peaks: [number, number, number[]][];
  baggedRoots: [number, string][];
  leafCounts: number[];
  leafIndices: number[];
  mmrIndices: number[];
  incompleteSizes: number[];
}>('mmr/tree.json');
const { rows: inclusion } = fixture<{ rows: [number, number, number[], number, number][] }>('mmr/inclusion.json');
const { rows: consistency } = fixture<{ rows: [number, number, number[][], number[], number[]][] }>(
  'mmr/consistency.json',
);

const leaves = Array.from({ length: 32 }, (_, leaf) => sha256(uint64ToBytes(mmrIndex(BigInt(leaf)))));
const { nodes } = appendLeaves(hashPosPair64, 0n, [], leaves);
const node = (index: bigint | number) => nodes[Number(index)]!;

describe('an MMR of known nodes', () => {
  it('has the published hash in every node', () => {
    expect(nodes.map(toHex)).toEqual(tree.nodes);
  });

  it('has the published heights, leaf counts and indices', () => {
    expect(tree.heights.map((_, index) => indexHeight(BigInt(index)))).toEqual(tree.heights);
    expect(tree.leafCounts.map((_, index) => Number(leafCount(BigInt(index + 1))))).toEqual(tree.leafCounts);
    expect(tree.leafIndices.map((_, index) => Number(leafIndex(BigInt(index))))).toEqual(tree.leafIndices);
    expect(tree.mmrIndices.map((_, leaf) => Number(mmrIndex(BigInt(leaf))))).toEqual(tree.mmrIndices);
  });

  it('has the published peaks at every complete size, and none at any other', () => {
    for (const [size, count, indices] of tree.peaks) {
      expect(peaks(BigInt(size)).map(Number)).toEqual(indices);
      expect([leafCount(BigInt(size)), sizeOfLeaves(BigInt(count))]).toEqual([BigInt(count), BigInt(size)]);
      expect(isCompleteSize(BigInt(size))).toBe(true);
    }
    for (const size of tree.incompleteSizes) {
      expect(isCompleteSize(BigInt(size))).toBe(false);
      expect(() => peaks(BigInt(size))).toThrow(RangeError);
    }
    expect(peaks(0n)).toEqual([]);
  });

  it('bags its peaks to the published roots', () => {
    for (const [size, root] of tree.baggedRoots) expect(toHex(baggedRoot(peaks(BigInt(size)).map(node)))).toBe(root);
    expect(() => baggedRoot([])).toThrow(RangeError);
  });

  it('includes every node of every size by the published path, peak and slot', () => {
    for (const [size, index, path, peak, slot] of inclusion) {
      const at = BigInt(index);
      expect(inclusionProofPath(BigInt(size), at).map(Number)).toEqual(path);
      expect(includedRoot(at, node(index), path.map(node))).toEqual(node(peak));
      expect(peakSlot(leafCount(BigInt(size)), path.length + indexHeight(at))).toBe(slot);
    }
  });

  it('extends every smaller size by the published paths to the published peaks', () => {
    for (const [oldSize, newSize, paths, proven, right] of consistency) {
      expect(consistencyProofPaths(BigInt(oldSize), BigInt(newSize)).map((path) => path.map(Number))).toEqual(paths);
      const roots = consistentRoots(
        BigInt(oldSize),
        peaks(BigInt(oldSize)).map(node),
        paths.map((path) => path.map(node)),
      );
      expect(roots).toEqual(proven.map(node));
      expect([...proven, ...right]).toEqual(peaks(BigInt(newSize)).map(Number));
    }
  });
});
