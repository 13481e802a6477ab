import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatBytes, uint64ToBytes } from '../../../src/core/bytes.js';
import { rfc9162InclusionNodes, rfc9162InclusionPath } from '../../../src/core/rfc9162/rfc9162-inclusion-path.js';
import { rfc9162Leaf } from '../../../src/core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../../src/core/rfc9162/rfc9162-parent.js';
import { rfc9162Root } from '../../../src/core/rfc9162/rfc9162-root.js';
import { rfc9162RootFromInclusion } from '../../../src/core/rfc9162/rfc9162-root-from-inclusion.js';
import { subtreeNodes } from '../../../src/core/rfc9162/rfc9162-subtree.js';
import { parseTilePath } from '../../../src/core/tlog/tile.js';
import { nodesInTiles, tilesOfNodes } from '../../../src/core/tlog/tile-nodes.js';

/** Three levels of tiles, the upper ones with one hash. */
const MOST = 65_600;
const leaves = Array.from({ length: MOST }, (_, index) => rfc9162Leaf(uint64ToBytes(BigInt(index))));

/** Roots of the perfect subtrees of 2^height leaves, from RFC 9162's definition. */
const levels: Uint8Array[][] = [leaves];
for (let height = 1; height <= 16; height += 1) {
  const below = levels[height - 1]!;
  levels.push(
    Array.from({ length: below.length >> 1 }, (_, at) => rfc9162Parent(0n, below[2 * at]!, below[2 * at + 1]!)),
  );
}

function rootOf(start: number, count: number): Uint8Array {
  const height = Math.log2(count);
  if (Number.isInteger(height)) return levels[height]![start / count]!;
  const split = 2 ** Math.floor(Math.log2(count));
  return rfc9162Parent(0n, rootOf(start, split), rootOf(start + split, count - split));
}

/** The tile as a log of `size` entries serves it. */
function tile(path: string, size: number): Uint8Array {
  const { level, index, width } = parseTilePath(path)!;
  const hashes = levels[8 * Number(level)]!.slice(0, size >> (8 * Number(level)));
  const first = 256 * Number(index);
  expect(first + width).toBeLessThanOrEqual(hashes.length);
  return concatBytes(...hashes.slice(first, first + width));
}

function nodes(indices: readonly bigint[], size: number) {
  const paths = tilesOfNodes(indices, BigInt(size));
  return { paths, nodeAt: nodesInTiles(new Map(paths.map((path) => [path, tile(path, size)])), BigInt(size)) };
}

const sizes = fc.oneof(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 65_000, max: MOST }));

describe('the nodes in the tiles of a log', () => {
  it('make its root, and that of every older state', () => {
    fc.assert(
      fc.property(sizes, sizes, (one, other) => {
        const [older, size] = one < other ? [one, other] : [other, one];
        const indices = subtreeNodes({ start: 0n, leaves: BigInt(older) });
        expect(rfc9162Root(indices.map(nodes(indices, size).nodeAt))).toEqual(rootOf(0, older));
      }),
      { numRuns: 60 },
    );
  });

  it('make the path of every entry, from a few tiles', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), (size, any) => {
        const index = BigInt(any % size);
        const { paths, nodeAt } = nodes(rfc9162InclusionNodes(index, BigInt(size)), size);
        const path = rfc9162InclusionPath(index, BigInt(size), nodeAt);
        const root = rfc9162RootFromInclusion(leaves[Number(index)]!, index, BigInt(size), path);
        expect(root).toEqual(rootOf(0, size));
        expect(paths.length).toBeLessThanOrEqual(5);
      }),
      { numRuns: 60 },
    );
  });

  it('are refused from a tile that is absent or too short', () => {
    expect(() => nodesInTiles(new Map(), 4n)(0n)).toThrow('too short');
    expect(() => nodesInTiles(new Map([['0/000.p/4', new Uint8Array(31)]]), 4n)(0n)).toThrow('too short');
  });
});
