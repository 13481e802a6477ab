import { describe, expect, it } from 'vitest';
import { toHex, utf8 } from '../../../src/core/bytes.js';
import { appendLeaves } from '../../../src/core/mmr/append-leaves.js';
import { hashPosPair64 } from '../../../src/core/mmr/hash-pos-pair64.js';
import { inclusionProofPath } from '../../../src/core/mmr/inclusion-proof-path.js';
import { mmrIndex, sizeOfLeaves } from '../../../src/core/mmr/leaf-count.js';
import { rfc9162InclusionPath } from '../../../src/core/rfc9162/rfc9162-inclusion-path.js';
import { rfc9162Parent } from '../../../src/core/rfc9162/rfc9162-parent.js';
import { rfc9162Root } from '../../../src/core/rfc9162/rfc9162-root.js';
import { sha256 } from '../../../src/core/sha256.js';
import { mmrNodes, placeName, rfc9162Nodes } from '../../../src/core/verify/proven-nodes.js';

const MOST = 19;
const leaves = Array.from({ length: MOST }, (_, at) => sha256(utf8(`leaf ${at}`)));
const PLACES = Array.from({ length: MOST }, (_, at) => at + 1).flatMap((size) =>
  Array.from({ length: size }, (_, leaf) => [BigInt(size), BigInt(leaf)] as const),
);

describe('the nodes that a path proves', () => {
  it('of a Merkle mountain range stand at their indices in the log, the peak last, at every size', () => {
    const { nodes } = appendLeaves(hashPosPair64, 0n, [], leaves);
    for (const [size, leaf] of PLACES) {
      const path = inclusionProofPath(sizeOfLeaves(size), mmrIndex(leaf)).map((node) => nodes[Number(node)]!);
      const proven = [...mmrNodes(mmrIndex(leaf), leaves[Number(leaf)]!, path, hashPosPair64)];
      expect(proven).toHaveLength(1 + 2 * path.length);
      for (const { at, hash } of proven)
        expect([size, leaf, at, toHex(hash)]).toEqual([size, leaf, at, toHex(nodes[Number(at)]!)]);
    }
  });

  it('of an RFC 9162 tree are the hashes of the leaves that name their place, the root last, at every size', () => {
    const rootOf = (first: number, end: number) =>
      rfc9162Root(appendLeaves(rfc9162Parent, 0n, [], leaves.slice(first, end)).peaks);
    const { nodes } = appendLeaves(rfc9162Parent, 0n, [], leaves);
    for (const [size, leaf] of PLACES) {
      const path = rfc9162InclusionPath(leaf, size, (node) => nodes[Number(node)]!);
      const proven = [...rfc9162Nodes(leaf, leaves[Number(leaf)]!, size, path)];
      expect([proven.length, proven.at(-1)!.at]).toEqual([1 + 2 * path.length, `0-${size}`]);
      for (const { at, hash } of proven) {
        const [first, end] = at.split('-').map(Number) as [number, number];
        expect([size, leaf, at, toHex(hash)]).toEqual([size, leaf, at, toHex(rootOf(first, end))]);
      }
    }
  });

  it('have names for a person', () => {
    expect(['7', '6', '5-6', '4-8'].map(placeName)).toEqual([
      'entry 4',
      'node 6',
      'entry 5',
      'the tree over entries 4 to 7',
    ]);
  });
});
