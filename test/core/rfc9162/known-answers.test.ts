import { describe, expect, it } from 'vitest';
import { fromHex, toHex, utf8 } from '../../../src/core/bytes.js';
import { appendLeaves } from '../../../src/core/mmr/append-leaves.js';
import { rfc9162VerifyConsistency } from '../../../src/core/rfc9162/rfc9162-consistency.js';
import { rfc9162ConsistencyPath } from '../../../src/core/rfc9162/rfc9162-consistency-path.js';
import { rfc9162InclusionPath } from '../../../src/core/rfc9162/rfc9162-inclusion-path.js';
import { rfc9162Leaf } from '../../../src/core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../../src/core/rfc9162/rfc9162-parent.js';
import { rfc9162Root } from '../../../src/core/rfc9162/rfc9162-root.js';
import { rfc9162RootFromInclusion } from '../../../src/core/rfc9162/rfc9162-root-from-inclusion.js';
import { fixture, haveSharedVectors, sharedVectors } from '../mmr/shared-vectors.js';

interface KnownTree {
  entries: string[];
  leaves: string[];
  roots: string[];
  inclusion: [number, number, string[]][];
  consistency: [number, number, string[]][];
}

function ownTree(): KnownTree {
  const { hashes, ...tree } = fixture<{
    entries: string[];
    hashes: string[];
    leaves: number[];
    roots: number[];
    inclusion: [number, number, number[]][];
    consistency: [number, number, number[]][];
  }>('rfc9162/tree.json');
  const named = ([first, second, path]: [number, number, number[]]): [number, number, string[]] => [
    first,
    second,
    path.map((hash) => hashes[hash]!),
  ];
  return {
    entries: tree.entries,
    leaves: tree.leaves.map((hash) => hashes[hash]!),
    roots: tree.roots.map((hash) => hashes[hash]!),
    inclusion: tree.inclusion.map(named),
    consistency: tree.consistency.map(named),
  };
}

interface SharedTree {
  entries_utf8: string[];
  leaf_hashes: string[];
  roots_by_size: string[];
  inclusion_proofs_derived: { tree_size: number; leaf_index: number; path: string[] }[];
  consistency_proofs_derived: { size_1: number; size_2: number; path: string[] }[];
  cose_wg_example_receipts: {
    inclusion: {
      tree_size: number;
      leaf_index: number;
      path: string[];
      leaf_hash_derived: string;
      root_derived: string;
    };
    consistency: { size_1: number; size_2: number; path: string[]; root_1_derived: string; root_2_derived: string };
  };
}

function sharedTree(): KnownTree {
  const vector = sharedVectors<SharedTree>('rfc9162');
  return {
    entries: vector.entries_utf8,
    leaves: vector.leaf_hashes,
    roots: vector.roots_by_size,
    inclusion: vector.inclusion_proofs_derived.map((row) => [row.tree_size, row.leaf_index, row.path]),
    consistency: vector.consistency_proofs_derived.map((row) => [row.size_1, row.size_2, row.path]),
  };
}

const sources = [{ name: 'fixtures', tree: ownTree }];
if (haveSharedVectors()) sources.push({ name: 'shared vectors', tree: sharedTree });

describe.each(sources)('an RFC 9162 tree of known nodes ($name)', ({ tree: load }) => {
  const tree = load();
  const leaves = tree.entries.map((entry) => rfc9162Leaf(utf8(entry)));
  const { nodes } = appendLeaves(rfc9162Parent, 0n, [], leaves);
  const nodeAt = (index: bigint) => nodes[Number(index)]!;

  it('has the published leaves and roots at every size', () => {
    expect(leaves.map(toHex)).toEqual(tree.leaves);
    const roots = tree.roots.map((_, size) => appendLeaves(rfc9162Parent, 0n, [], leaves.slice(0, size)).peaks);
    expect(roots.map((peaks) => toHex(rfc9162Root(peaks)))).toEqual(tree.roots);
  });

  it('includes every leaf at every size by the published path', () => {
    for (const [size, leaf, path] of tree.inclusion) {
      expect(rfc9162InclusionPath(BigInt(leaf), BigInt(size), nodeAt).map(toHex)).toEqual(path);
      const root = rfc9162RootFromInclusion(leaves[leaf]!, BigInt(leaf), BigInt(size), path.map(fromHex));
      expect(toHex(root)).toBe(tree.roots[size]);
    }
  });

  it('extends every smaller size by the published proof', () => {
    for (const [size1, size2, path] of tree.consistency) {
      expect(rfc9162ConsistencyPath(BigInt(size1), BigInt(size2), nodeAt).map(toHex)).toEqual(path);
      rfc9162VerifyConsistency(
        BigInt(size1),
        fromHex(tree.roots[size1]!),
        BigInt(size2),
        fromHex(tree.roots[size2]!),
        path.map(fromHex),
      );
    }
  });
});

describe.skipIf(!haveSharedVectors())('the COSE working group examples', () => {
  it('lead from both proofs to one root', () => {
    const { inclusion, consistency } = sharedVectors<SharedTree>('rfc9162').cose_wg_example_receipts;
    const root = rfc9162RootFromInclusion(
      fromHex(inclusion.leaf_hash_derived),
      BigInt(inclusion.leaf_index),
      BigInt(inclusion.tree_size),
      inclusion.path.map(fromHex),
    );
    expect(toHex(root)).toBe(inclusion.root_derived);
    rfc9162VerifyConsistency(
      BigInt(consistency.size_1),
      fromHex(consistency.root_1_derived),
      BigInt(consistency.size_2),
      fromHex(consistency.root_2_derived),
      consistency.path.map(fromHex),
    );
  });
});
