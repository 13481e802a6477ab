import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatBytes, toHex, uint64ToBytes } from '../../../src/core/bytes.js';
import { VerificationError } from '../../../src/core/errors.js';
import { appendLeaves } from '../../../src/core/mmr/append-leaves.js';
import { sizeOfLeaves } from '../../../src/core/mmr/leaf-count.js';
import { peaks } from '../../../src/core/mmr/peaks.js';
import { rfc9162VerifyConsistency } from '../../../src/core/rfc9162/rfc9162-consistency.js';
import { rfc9162ConsistencyNodes, rfc9162ConsistencyPath } from '../../../src/core/rfc9162/rfc9162-consistency-path.js';
import {
  rfc9162InclusionNodes,
  rfc9162InclusionPath,
  rfc9162InclusionPaths,
} from '../../../src/core/rfc9162/rfc9162-inclusion-path.js';
import { rfc9162Parent, rfc9162ParentWith } from '../../../src/core/rfc9162/rfc9162-parent.js';
import { rfc9162Root } from '../../../src/core/rfc9162/rfc9162-root.js';
import { rfc9162RootFromInclusion } from '../../../src/core/rfc9162/rfc9162-root-from-inclusion.js';
import { naiveHash } from '../mmr/naive-mmr.js';
import { naiveConsistency, naiveInclusion, naiveRoot } from './naive-rfc9162.js';

const EVERY = 600;
const MANY = 100_000;
const leaves = Array.from({ length: MANY }, (_, leaf) => naiveHash(uint64ToBytes(BigInt(leaf))));
const { nodes } = appendLeaves(rfc9162Parent, 0n, [], leaves);
const nodeAt = (index: bigint) => nodes[Number(index)]!;
const hex = (hashes: readonly Uint8Array[]) => toHex(concatBytes(...hashes));
const rootAt = (size: bigint) => rfc9162Root(peaks(sizeOfLeaves(size)).map(nodeAt));

/** All below a small count; of more the ends, the middle, and some that move with the count. */
function someOf(count: number): number[] {
  if (count <= 64) return Array.from({ length: count }, (_, index) => index);
  return [...new Set([0, 1, count >> 1, (count * 7) % 61, (count * 13) % count, count - 2, count - 1])];
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

/** Reads nothing but what was announced, as a caller does that has loaded those nodes alone. */
function only(indices: readonly bigint[]): (index: bigint) => Uint8Array {
  const announced = new Set(indices);
  return (index) => {
    if (!announced.has(index)) throw new Error(`node ${index} was not announced`);
    return nodeAt(index);
  };
}

describe('RFC 9162 trees against a naive model, every size', () => {
  it('takes the longest path that a tree can have, 64 hashes, and none that is longer', () => {
    const [leaf] = leaves as [Uint8Array];
    const path = leaves.slice(0, 64);
    expect(rfc9162RootFromInclusion(leaf, 0n, 2n ** 64n, path)).toHaveLength(32);
    refused(() => rfc9162RootFromInclusion(leaf, 0n, 2n ** 65n, leaves.slice(0, 65)), 'inclusion_path_invalid');
    refused(() => rfc9162RootFromInclusion(leaf, 0n, 2n ** 64n, path.slice(1)), 'inclusion_path_invalid');
  });

  it('has the root of the definition', () => {
    for (let size = 0; size <= EVERY; size++) expect(rootAt(BigInt(size))).toEqual(naiveRoot(leaves, 0, size));
  });

  it('proves inclusion by the path of the definition, from the announced nodes alone', () => {
    for (let count = 1; count <= EVERY; count++) {
      for (const leaf of someOf(count)) {
        const size = BigInt(count);
        const at = BigInt(leaf);
        const path = rfc9162InclusionPath(at, size, only(rfc9162InclusionNodes(at, size)));
        expect(hex(path)).toBe(hex(naiveInclusion(leaves, leaf, 0, count).hashes));
        expect(hex([rfc9162RootFromInclusion(leaves[leaf]!, at, size, path)])).toBe(hex([naiveRoot(leaves, 0, count)]));
      }
    }
  });

  it('gives the leaves of one tree the same paths together as alone, in whatever order', () => {
    for (let count = 1; count <= 70; count++) {
      const size = BigInt(count);
      const pathOf = rfc9162InclusionPaths(size, nodeAt);
      for (const at of [...Array(count).keys(), ...[...Array(count).keys()].reverse()])
        expect(hex(pathOf(BigInt(at)))).toBe(hex(naiveInclusion(leaves, at, 0, count).hashes));
    }
  });

  it('proves consistency by the proof of the definition, from the announced nodes alone', () => {
    for (let count = 1; count <= EVERY; count++) {
      for (const older of [...someOf(count), count]) {
        const [size1, size2] = [BigInt(older), BigInt(count)];
        const path = rfc9162ConsistencyPath(size1, size2, only(rfc9162ConsistencyNodes(size1, size2)));
        if (older > 0) expect(hex(path)).toBe(hex(naiveConsistency(leaves, older, 0, count)));
        rfc9162VerifyConsistency(size1, naiveRoot(leaves, 0, older), size2, naiveRoot(leaves, 0, count), path);
      }
    }
  });
});

const pair = fc
  .integer({ min: 2, max: MANY })
  .chain((count) => fc.record({ count: fc.constant(count), pick: fc.integer({ min: 1, max: count - 1 }) }));

describe('RFC 9162 trees of many leaves', () => {
  it('proves inclusion and consistency with proofs of logarithmic length', () => {
    fc.assert(
      fc.property(pair, ({ count, pick }) => {
        const [size, at] = [BigInt(count), BigInt(pick)];
        const levels = Math.ceil(Math.log2(count));
        const path = rfc9162InclusionPath(at, size, nodeAt);
        expect(path.length).toBeLessThanOrEqual(levels);
        expect(rfc9162InclusionNodes(at, size).length).toBeLessThanOrEqual(2 * levels);
        expect(rfc9162RootFromInclusion(leaves[pick]!, at, size, path)).toEqual(rootAt(size));
        const proof = rfc9162ConsistencyPath(at, size, nodeAt);
        expect(proof.length).toBeLessThanOrEqual(levels + 1);
        rfc9162VerifyConsistency(at, rootAt(at), size, rootAt(size), proof);
      }),
      { numRuns: 1_000 },
    );
  });

  it('leads a changed inclusion proof to no root or another', () => {
    fc.assert(
      fc.property(pair, fc.nat(), fc.nat(), ({ count, pick }, seed, other) => {
        const [size, at] = [BigInt(count), BigInt(pick)];
        const honest = rootAt(size);
        const leaf = leaves[pick]!;
        const path = rfc9162InclusionPath(at, size, nodeAt);
        const slot = seed % path.length;
        const shape = (index: number, of: number) => naiveInclusion(leaves, index, 0, of).sides;
        const otherLeaf = (pick + 1 + (other % (count - 1))) % count;
        const otherSize = pick + 1 + (other % (MANY - pick));
        const wrong: [Uint8Array, number, number, Uint8Array[]][] = [[leaf, otherLeaf, count, path]];
        // The root does not name its size: another one of the same shape is the same proof.
        if (shape(pick, otherSize) !== shape(pick, count)) wrong.push([leaf, pick, otherSize, path]);
        const flipped = [leaf, ...path].map((hash) => hash.slice());
        flipped[seed % flipped.length]![seed % 32]! ^= 1 << (seed % 8);
        wrong.push([flipped[0]!, pick, count, flipped.slice(1)]);
        for (const [value, index, of, hashes] of wrong) {
          let root: Uint8Array | undefined;
          try {
            root = rfc9162RootFromInclusion(value, BigInt(index), BigInt(of), hashes);
          } catch (error) {
            expect((error as VerificationError).code).toBe('inclusion_path_invalid');
          }
          expect(root).not.toEqual(honest);
        }
        const check = (hashes: Uint8Array[], index = at) => rfc9162RootFromInclusion(leaf, index, size, hashes);
        refused(() => check(path.toSpliced(slot, 1)), 'inclusion_path_invalid');
        refused(() => check(path.toSpliced(slot, 0, leaf)), 'inclusion_path_invalid');
        refused(() => check(path.with(slot, leaf.subarray(1))), 'inclusion_path_invalid');
        refused(() => check(path, size), 'inclusion_path_invalid');
        refused(() => check(path, -1n), 'inclusion_path_invalid');
      }),
      { numRuns: 500 },
    );
  });

  it('refuses a changed consistency proof', () => {
    fc.assert(
      fc.property(pair, fc.nat(), fc.nat(), ({ count, pick }, seed, other) => {
        const [size1, size2] = [BigInt(pick), BigInt(count)];
        const [root1, root2] = [rootAt(size1), rootAt(size2)];
        const path = rfc9162ConsistencyPath(size1, size2, nodeAt);
        const slot = seed % path.length;
        const otherSize = 1 + ((pick + (other % (count - 1))) % (count - 1));
        const flipped = path.map((hash) => hash.slice());
        flipped[slot]![seed % 32]! ^= 1 << (seed % 8);
        const check = (proof: Uint8Array[], older = size1, oldRoot = root1, newer = size2, newRoot = root2) =>
          refused(() => rfc9162VerifyConsistency(older, oldRoot, newer, newRoot, proof), 'consistency_invalid');
        check(flipped);
        check(path.toSpliced(slot, 1));
        check(path.toSpliced(slot, 0, root2));
        check([...path, root2]);
        check(path.with(slot, root1.subarray(1)));
        check(path, size1, root2);
        check(path, size1, root1, size2, root1);
        check(path, size2, root1, size1);
        check(path, size2, root2);
        if (otherSize !== pick) check(path, BigInt(otherSize));
      }),
      { numRuns: 500 },
    );
  });
});

describe('RFC 9162 trees at their edges', () => {
  const empty = naiveHash();
  const [one, two] = [leaves[0]!, rootAt(2n)];

  it('takes every tree for an extension of the empty one, by an empty proof', () => {
    rfc9162VerifyConsistency(0n, empty, 2n, two, []);
    rfc9162VerifyConsistency(0n, empty, 0n, empty, []);
    refused(() => rfc9162VerifyConsistency(0n, one, 2n, two, []), 'consistency_invalid');
    refused(() => rfc9162VerifyConsistency(0n, empty, 2n, two, [one]), 'consistency_invalid');
    refused(() => rfc9162VerifyConsistency(0n, empty, 0n, one, []), 'consistency_invalid');
    refused(() => rfc9162VerifyConsistency(-1n, empty, 0n, empty, []), 'consistency_invalid');
  });

  it('takes equal sizes for consistent when the roots are equal and the proof is empty', () => {
    rfc9162VerifyConsistency(2n, two, 2n, two, []);
    refused(() => rfc9162VerifyConsistency(2n, two, 2n, one, []), 'consistency_invalid');
    refused(() => rfc9162VerifyConsistency(2n, two, 2n, two, [one]), 'consistency_invalid');
  });

  it('refuses a proof that is too long for its sizes, though made-up roots agree with it', () => {
    const [root1, root2] = [rootAt(3n), rootAt(4n)];
    const path = rfc9162ConsistencyPath(3n, 4n, nodeAt);
    const [made1, made2] = [rfc9162Parent(0n, one, root1), rfc9162Parent(0n, one, root2)];
    rfc9162VerifyConsistency(3n, root1, 4n, root2, path);
    refused(() => rfc9162VerifyConsistency(3n, made1, 4n, made2, [...path, one]), 'consistency_invalid');
  });

  it('grows the same tree by another implementation of SHA-256', () => {
    const grown = appendLeaves(rfc9162ParentWith(naiveHash), 0n, [], leaves.slice(0, 7));
    expect(grown.nodes).toEqual(nodes.slice(0, Number(grown.size)));
  });

  it('makes no proof of what a tree does not hold', () => {
    expect(() => rfc9162InclusionNodes(2n, 2n)).toThrow(RangeError);
    expect(() => rfc9162InclusionNodes(-1n, 2n)).toThrow(RangeError);
    expect(() => rfc9162InclusionPath(0n, 0n, nodeAt)).toThrow(RangeError);
    expect(() => rfc9162ConsistencyNodes(3n, 2n)).toThrow(RangeError);
    expect(() => rfc9162ConsistencyPath(-1n, 2n, nodeAt)).toThrow(RangeError);
  });
});
