import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inclusionProofPath } from '../../src/core/mmr/inclusion-proof-path.js';
import { mmrIndex, sizeOfLeaves } from '../../src/core/mmr/leaf-count.js';
import { peakOverLeaf } from '../../src/core/mmr/peak-over-leaf.js';
import { leafPaths } from '../../src/ledger/leaf-paths.js';

const compare = (left: bigint, right: bigint) => (left < right ? -1 : left > right ? 1 : 0);

/** Leaves of a log, each with the number of leaves that its own seal covers. */
const LEAVES = fc
  .bigInt({ min: 1n, max: 2n ** 40n })
  .chain((leaves) => fc.array(fc.bigInt({ min: 0n, max: leaves - 1n }), { maxLength: 40 }));

it('are the inclusion paths, in any order and under seals of any size', () => {
  const under = LEAVES.chain((leaves) =>
    fc.tuple(...leaves.map((leaf) => fc.tuple(fc.constant(leaf), fc.bigInt({ min: leaf + 1n, max: 2n ** 41n })))),
  );
  fc.assert(
    fc.property(under, (places) => {
      const leaves = places.map(([leafIndex, count]) => ({ leafIndex, peak: peakOverLeaf(count, leafIndex) }));
      const { nodes, paths } = leafPaths(leaves);
      expect(paths.map((path) => path.map((place) => nodes[place]))).toEqual(
        places.map(([leafIndex, count]) => inclusionProofPath(sizeOfLeaves(count), mmrIndex(leafIndex))),
      );
    }),
  );
});

it('name every node once when the leaves of a seal are in ascending order', () => {
  fc.assert(
    fc.property(LEAVES, fc.bigInt({ min: 0n, max: 2n ** 20n }), (drawn, more) => {
      const ascending = [...drawn].sort(compare);
      const count = (ascending.at(-1) ?? 0n) + 1n + more;
      const { nodes } = leafPaths(ascending.map((leafIndex) => ({ leafIndex, peak: peakOverLeaf(count, leafIndex) })));
      expect(new Set(nodes).size).toBe(nodes.length);
    }),
  );
});
