import { decodeSign1, type Sign1 } from '../core/cose/sign1.js';
import { mmrIndex } from '../core/mmr/leaf-count.js';
import { peakOverLeaf } from '../core/mmr/peak-over-leaf.js';
import { attachInclusion, type MmrProofForm } from '../core/receipt/mmr-receipt.js';
import { attachRfc9162Inclusion } from '../core/receipt/rfc9162-receipt.js';
import { rfc9162InclusionNodes, rfc9162InclusionPaths } from '../core/rfc9162/rfc9162-inclusion-path.js';
import type { Tx } from '../platform/postgres/database.js';
import { type LeafUnderPeak, leafPaths } from './leaf-paths.js';
import type { LogRef } from './log.js';
import { readNodeList, readNodes } from './node-page-store.js';

/** One leaf in one state of a log. */
interface LeafInState {
  readonly leafIndex: bigint;
  readonly leaves: bigint;
}

/** A leaf of an RFC 9162 log, with the signature over its state's root: the same bytes for every leaf of one state. */
interface LeafUnderRoot extends LeafInState {
  readonly signedRoot: Uint8Array;
}

/** A leaf of an MMR log, with the signature over the peak above it. */
interface LeafUnderSignedPeak extends LeafUnderPeak {
  readonly signedPeak: Sign1;
}

/** Builds an MMR receipt from the signed peak above the leaf. */
export async function mmrEntryReceipt(
  tx: Tx,
  log: LogRef,
  { leafIndex, leaves }: LeafInState,
  signedPeak: Uint8Array,
  form: MmrProofForm,
): Promise<Uint8Array> {
  const wanted = { leafIndex, peak: peakOverLeaf(leaves, leafIndex), signedPeak: decodeSign1(signedPeak) };
  return (await mmrEntryReceipts(tx, log, [wanted], form))[0]!;
}

/** Builds MMR receipts in the order of their leaves. Ascending order is best: each node is then read once. */
export async function mmrEntryReceipts(
  tx: Tx,
  log: LogRef,
  wanted: readonly LeafUnderSignedPeak[],
  form: MmrProofForm,
): Promise<Uint8Array[]> {
  const { nodes, paths } = leafPaths(wanted);
  const node = await readNodeList(tx, log, nodes);
  return wanted.map(({ leafIndex, signedPeak }, place) =>
    attachInclusion(signedPeak, mmrIndex(leafIndex), paths[place]!.map(node), form),
  );
}

/** Builds RFC 9162 receipts in the order of their leaves, from the signed roots; each node is read once. */
export async function rfc9162EntryReceipts(
  tx: Tx,
  log: LogRef,
  wanted: readonly LeafUnderRoot[],
): Promise<Uint8Array[]> {
  const nodeAt = await readNodes(
    tx,
    log,
    wanted.flatMap(({ leafIndex, leaves }) => rfc9162InclusionNodes(leafIndex, leaves)),
  );
  const trees = new Map<Uint8Array, { readonly signed: Sign1; pathOf(leafIndex: bigint): Uint8Array[] }>();
  return wanted.map(({ leafIndex, leaves, signedRoot }) => {
    const tree = trees.get(signedRoot) ?? {
      signed: decodeSign1(signedRoot),
      pathOf: rfc9162InclusionPaths(leaves, nodeAt),
    };
    trees.set(signedRoot, tree);
    return attachRfc9162Inclusion(tree.signed, leaves, leafIndex, tree.pathOf(leafIndex));
  });
}
