import { describe, expect, it } from 'vitest';
import { fromHex, toHex, uint64ToBytes } from '../../../src/core/bytes.js';
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
import { bitLength, popcount, trailingZeros } from '../../../src/core/mmr/uint64-bits.js';
import { sha256 } from '../../../src/core/sha256.js';
import { haveSharedVectors, sharedVectors } from './shared-vectors.js';

interface Inclusion {
  size: number;
  index: number;
  path_indices: number[];
  path: string[];
  peak_index: number;
  peak: string;
}
interface Consistency {
  size_a: number;
  size_b: number;
  peaks_a: number[];
  paths: number[][];
  proven_peaks_b: number[];
  right_peaks_b: number[];
  peak_hashes_a: string[];
  path_hashes: string[][];
  peak_hashes_b: string[];
}

const numbers = (values: readonly bigint[]) => values.map(Number);

describe.skipIf(!haveSharedVectors())('shared MMR vectors', () => {
  it('mmr-kat39: leaves, nodes, states and paths', () => {
    const vector = sharedVectors<{
      leaves: string[];
      nodes: string[];
      node_heights: number[];
      leaf_mmr_indices: number[];
      states: { size: number; leaf_count: number; peak_indices: number[]; peaks: string[] }[];
      leaf_inclusion_size39: { index: number; path_indices: number[]; path: string[]; peak_index: number }[];
    }>('mmr-kat39');
    const leaves = vector.leaves.map((_, leaf) => sha256(uint64ToBytes(mmrIndex(BigInt(leaf)))));
    expect(leaves.map(toHex)).toEqual(vector.leaves);
    expect(vector.leaves.map((_, leaf) => Number(mmrIndex(BigInt(leaf))))).toEqual(vector.leaf_mmr_indices);
    expect(vector.nodes.map((_, index) => indexHeight(BigInt(index)))).toEqual(vector.node_heights);
    for (const state of vector.states) {
      const grown = appendLeaves(hashPosPair64, 0n, [], leaves.slice(0, state.leaf_count));
      expect(Number(grown.size)).toBe(state.size);
      expect(grown.peaks.map(toHex)).toEqual(state.peaks);
      expect(grown.nodes.map(toHex)).toEqual(vector.nodes.slice(0, state.size));
      expect(numbers(peaks(grown.size))).toEqual(state.peak_indices);
    }
    for (const row of vector.leaf_inclusion_size39) {
      expect(numbers(inclusionProofPath(39n, BigInt(row.index)))).toEqual(row.path_indices);
      const root = includedRoot(BigInt(row.index), fromHex(vector.nodes[row.index]!), row.path.map(fromHex));
      expect(toHex(root)).toBe(vector.nodes[row.peak_index]);
    }
  });

  it('mmr-inclusion: every case', () => {
    const { nodes } = sharedVectors<{ nodes: string[] }>('mmr-kat39');
    const vector = sharedVectors<{
      source_cases: Inclusion[];
      derived_all: { size: number; index: number; path: number[]; peak: number; peak_slot: number }[];
    }>('mmr-inclusion');
    for (const row of vector.source_cases) {
      expect(numbers(inclusionProofPath(BigInt(row.size), BigInt(row.index)))).toEqual(row.path_indices);
      const root = includedRoot(BigInt(row.index), fromHex(nodes[row.index]!), row.path.map(fromHex));
      expect(toHex(root)).toBe(row.peak);
    }
    for (const row of vector.derived_all) {
      expect(numbers(inclusionProofPath(BigInt(row.size), BigInt(row.index)))).toEqual(row.path);
      const height = row.path.length + indexHeight(BigInt(row.index));
      expect(peakSlot(leafCount(BigInt(row.size)), height)).toBe(row.peak_slot);
      expect(Number(peaks(BigInt(row.size))[row.peak_slot])).toBe(row.peak);
    }
  });

  it('mmr-consistency: every pair', () => {
    const vector = sharedVectors<{ source_cases: Consistency[]; derived_all_pairs_upto_39: Consistency[] }>(
      'mmr-consistency',
    );
    for (const row of [...vector.source_cases, ...vector.derived_all_pairs_upto_39]) {
      expect(numbers(peaks(BigInt(row.size_a)))).toEqual(row.peaks_a);
      expect(consistencyProofPaths(BigInt(row.size_a), BigInt(row.size_b)).map(numbers)).toEqual(row.paths);
      expect(numbers(peaks(BigInt(row.size_b)))).toEqual([...row.proven_peaks_b, ...row.right_peaks_b]);
    }
    for (const row of vector.source_cases) {
      const paths = row.path_hashes.map((path) => path.map(fromHex));
      const roots = consistentRoots(BigInt(row.size_a), row.peak_hashes_a.map(fromHex), paths);
      expect(roots.map(toHex)).toEqual(row.peak_hashes_b.slice(0, row.proven_peaks_b.length));
    }
  });

  it('mmr-bagged-v0: every root', () => {
    const { nodes } = sharedVectors<{ nodes: string[] }>('mmr-kat39');
    const { roots } = sharedVectors<{ roots: { peaks: number[]; root: string }[] }>('mmr-bagged-v0');
    for (const row of roots) expect(toHex(baggedRoot(row.peaks.map((peak) => fromHex(nodes[peak]!))))).toBe(row.root);
  });

  it('mmr-tables: every table', () => {
    const { tables } = sharedVectors<{ tables: Record<string, { values: (number | (number | null | number[])[])[] }> }>(
      'mmr-tables',
    );
    const unread = new Set(Object.keys(tables));
    const valuesOf = (name: string) => {
      unread.delete(name);
      return tables[name]!.values;
    };
    const column = (name: string) => valuesOf(name) as number[];
    const rows = (name: string) => valuesOf(name) as [number, number, number][];
    const each = (name: string, of: (value: bigint) => bigint | number) =>
      expect(rows(name).map(([value]) => Number(of(BigInt(value))))).toEqual(rows(name).map(([, result]) => result));

    column('leaf_count_of_size_1_to_26').forEach((count, i) => {
      expect(Number(leafCount(BigInt(i + 1)))).toBe(count);
    });
    column('first_mmr_size_of_index_0_to_25').forEach((size, i) => {
      expect(Number(sizeOfLeaves(leafIndex(BigInt(i)) + 1n))).toBe(size);
    });
    column('leaf_index_of_index_0_to_25').forEach((leaf, i) => {
      expect(Number(leafIndex(BigInt(i)))).toBe(leaf);
    });
    column('mmr_index_of_leaf_0_to_20').forEach((index, i) => {
      expect(Number(mmrIndex(BigInt(i)))).toBe(index);
    });
    column('spur_height_of_leaf_0_to_17').forEach((height, i) => {
      expect(trailingZeros(BigInt(i + 1))).toBe(height);
    });
    column('leaf_minus_spur_sum_0_to_17').forEach((count, i) => {
      expect(popcount(BigInt(i))).toBe(count);
    });
    each('leaf_count_named', leafCount);
    each('index_height', indexHeight);
    each('pos_height', (position) => indexHeight(position - 1n));
    each('peaks_bitmap_of_size', leafCount);
    each('max_peak_height_of_index', (index) => bitLength(leafCount(index + 1n)) - 1);
    each('leaf_count_of_height_index', (height) => leafCount(2n ** (height + 1n) - 1n));
    each('top_height', (index) => bitLength(leafCount(index + 1n)) - 1);
    for (const [last, length, slot] of rows('peak_index'))
      expect(peakSlot(leafCount(BigInt(last) + 1n), length)).toBe(slot);

    const peakTable = (name: string, size: (argument: number) => bigint, base: number) => {
      for (const [argument, expected] of valuesOf(name) as [number, number[] | null][]) {
        if (expected) expect(numbers(peaks(size(argument))).map((index) => index + base)).toEqual(expected);
        else expect(isCompleteSize(size(argument))).toBe(false);
      }
    };
    peakTable('peak_positions_of_size', (size) => BigInt(size), 1);
    peakTable('peak_indices_of_last_index', (last) => BigInt(last) + 1n, 0);

    // Steps that ours has no functions for, from the height of a node; positions are indices plus one.
    const subtree = (position: bigint) => 2n ** BigInt(indexHeight(position - 1n));
    each('jump_right_sibling', (position) => position + 2n * subtree(position) - 1n);
    each('left_child_pos', (position) => (subtree(position) === 1n ? 0n : position - subtree(position)));
    each('jump_left_perfect_pos', (position) => position + 1n - 2n ** BigInt(bitLength(position) - 1));
    each('spur_sum_of_height', (height) => {
      const leaves = Array.from({ length: 2 ** Number(height) - 1 }, (_, leaf) => BigInt(leaf));
      return leaves.reduce((sum, leaf) => sum + trailingZeros(leaf + 1n), 0);
    });
    expect([...unread]).toEqual([]);
  });
});
