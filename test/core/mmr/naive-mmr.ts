// A second MMR, built top down by recursion over whole trees and searched link by link: slow, and nothing like the real one.
import { createHash } from 'node:crypto';

export interface NaiveNode {
  readonly index: number;
  readonly height: number;
  readonly hash: Uint8Array;
  parent?: NaiveNode;
  sibling?: NaiveNode;
}

export interface NaiveMmr {
  /** In post order. */
  readonly nodes: NaiveNode[];
  /** Node index of each leaf. */
  readonly leaves: number[];
}

export function naiveHash(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}

function position(index: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(index) + 1n);
  return bytes;
}

function perfectTree(mmr: NaiveMmr, leaves: readonly Uint8Array[], height: number): NaiveNode {
  if (height === 0) {
    mmr.leaves.push(mmr.nodes.length);
    const leaf: NaiveNode = { index: mmr.nodes.length, height, hash: leaves[0]! };
    mmr.nodes.push(leaf);
    return leaf;
  }
  const half = 2 ** (height - 1);
  const left = perfectTree(mmr, leaves.slice(0, half), height - 1);
  const right = perfectTree(mmr, leaves.slice(half), height - 1);
  const index = mmr.nodes.length;
  const parent: NaiveNode = { index, height, hash: naiveHash(position(index), left.hash, right.hash) };
  mmr.nodes.push(parent);
  Object.assign(left, { parent, sibling: right });
  Object.assign(right, { parent, sibling: left });
  return parent;
}

/** The smallest perfect tree over at least so many leaves: its first nodes are those of every smaller tree. */
export function naiveMmr(leaves: readonly Uint8Array[]): NaiveMmr {
  const mmr: NaiveMmr = { nodes: [], leaves: [] };
  const height = Math.ceil(Math.log2(leaves.length));
  const filler = Array.from({ length: 2 ** height - leaves.length }, () => new Uint8Array(32));
  perfectTree(mmr, [...leaves, ...filler], height);
  return mmr;
}

/** Node count of the tree of the first `leaves` leaves: all before the next leaf. */
export function naiveSize(mmr: NaiveMmr, leaves: number): number {
  return mmr.leaves[leaves] ?? mmr.nodes.length;
}

/** The nodes below `size` without a parent below it, left to right. */
export function naivePeaks(mmr: NaiveMmr, size: number): NaiveNode[] {
  return mmr.nodes.slice(0, size).filter(({ parent }) => !parent || parent.index >= size);
}

/** Siblings from a node up, as long as its parent is below `size`; and the peak. */
export function naivePath(mmr: NaiveMmr, size: number, index: number): { path: NaiveNode[]; peak: NaiveNode } {
  const path: NaiveNode[] = [];
  let peak = mmr.nodes[index]!;
  while (peak.parent && peak.parent.index < size) {
    path.push(peak.sibling!);
    peak = peak.parent;
  }
  return { path, peak };
}
