import { decodeSign1, type Sign1 } from '../core/cose/sign1.js';
import { inclusionProofPath } from '../core/mmr/inclusion-proof-path.js';
import { mmrIndex } from '../core/mmr/leaf-count.js';
import { peakSlot } from '../core/mmr/peak-slot.js';
import { attachInclusion, type MmrProofForm } from '../core/receipt/mmr-receipt.js';
import { attachRfc9162Inclusion } from '../core/receipt/rfc9162-receipt.js';
import { rfc9162InclusionNodes, rfc9162InclusionPath } from '../core/rfc9162/rfc9162-inclusion-path.js';
import type { Tx } from '../platform/postgres/database.js';
import type { LogRef } from './log.js';
import { readNodes } from './node-page-store.js';

/** One leaf in one state of a log. */
export interface LeafInState {
  readonly leafIndex: bigint;
  /** Node count of the state. */
  readonly size: bigint;
  readonly leaves: bigint;
}

/** Which of an MMR state's peaks, left to right, a leaf lies under. */
export function peakPosition(place: LeafInState): number {
  return peakSlot(place.leaves, inclusionProofPath(place.size, mmrIndex(place.leafIndex)).length);
}

/** An MMR receipt from the signed peak that the leaf lies under; reads one page for each of its O(log n) nodes. */
export async function mmrEntryReceipt(
  tx: Tx,
  log: LogRef,
  place: LeafInState,
  signedPeak: Uint8Array,
  form: MmrProofForm,
): Promise<Uint8Array> {
  return (await mmrEntryReceipts(tx, log, [{ place, signedPeak: decodeSign1(signedPeak) }], form))[0]!;
}

/** MMR receipts in the order of their leaves; reads every page once. */
export async function mmrEntryReceipts(
  tx: Tx,
  log: LogRef,
  wanted: readonly { readonly place: LeafInState; readonly signedPeak: Sign1 }[],
  form: MmrProofForm,
): Promise<Uint8Array[]> {
  const proofs = wanted.map(({ place, signedPeak }) => {
    const index = mmrIndex(place.leafIndex);
    return { signedPeak, index, path: inclusionProofPath(place.size, index) };
  });
  const nodeAt = await readNodes(
    tx,
    log,
    proofs.flatMap(({ path }) => path),
  );
  return proofs.map(({ signedPeak, index, path }) => attachInclusion(signedPeak, index, path.map(nodeAt), form));
}

/** An RFC 9162 receipt from the signed root of the state; reads one page for each of its O(log n) nodes. */
export async function rfc9162EntryReceipt(
  tx: Tx,
  log: LogRef,
  place: LeafInState,
  signedRoot: Uint8Array,
): Promise<Uint8Array> {
  const { leafIndex, leaves } = place;
  const nodeAt = await readNodes(tx, log, rfc9162InclusionNodes(leafIndex, leaves));
  return attachRfc9162Inclusion(signedRoot, leaves, leafIndex, rfc9162InclusionPath(leafIndex, leaves, nodeAt));
}
