import { concatBytes } from '../core/bytes.js';
import { decodeSign1 } from '../core/cose/sign1.js';
import { peaks as peakIndices } from '../core/mmr/peaks.js';
import { attachRfc9162Inclusion } from '../core/receipt/rfc9162-receipt.js';
import { rfc9162InclusionPaths } from '../core/rfc9162/rfc9162-inclusion-path.js';

const NODE_BYTES = 32;

/**
 * The entries that one seal of an RFC 9162 log was the first to cover, with all that their receipts are made of. Only
 * plain values and bytes of its own, so that it can be sent to another thread.
 */
export interface SealedBatch {
  /** In the order of their leaves. */
  readonly entryIds: readonly string[];
  /** Index of the first entry's leaf. */
  readonly firstLeaf: bigint;
  /** Leaves under the seal. */
  readonly leaves: bigint;
  /** The signed root, a receipt without its proof. */
  readonly signedRoot: Uint8Array;
  /** Nodes of the log before the batch. */
  readonly sizeBefore: bigint;
  /** The peaks of the log before the batch, left to right, 32 bytes each. */
  readonly peaksBefore: Uint8Array;
  /** The nodes that the batch added, 32 bytes each; the first has the index `sizeBefore`. */
  readonly nodes: Uint8Array;
}

/** Makes the receipt of an entry that a published seal was the first to cover; undefined for other entries. */
export type ReceiptOf = (entryId: string) => Uint8Array | undefined;

/** @param parts nodes as separate values */
export function sealedBatch(
  parts: Omit<SealedBatch, 'peaksBefore' | 'nodes'> & {
    readonly peaksBefore: readonly Uint8Array[];
    readonly nodes: readonly Uint8Array[];
  },
): SealedBatch {
  const signedRoot = Uint8Array.from(parts.signedRoot);
  return { ...parts, signedRoot, peaksBefore: concatBytes(...parts.peaksBefore), nodes: concatBytes(...parts.nodes) };
}

/**
 * Returns a function that makes the receipt of an entry of the batch: the same bytes as from the database, because the
 * sibling of every node above a new leaf is itself new or was a peak before. Undefined for other entries.
 */
export function batchReceipts(batch: SealedBatch): ReceiptOf {
  const places = new Map(batch.entryIds.map((entryId, place) => [entryId, place]));
  const peakPlaces = new Map(peakIndices(batch.sizeBefore).map((index, place) => [index, place]));
  const at = (bytes: Uint8Array, place: number) => bytes.subarray(place * NODE_BYTES, (place + 1) * NODE_BYTES);
  const nodeAt = (index: bigint): Uint8Array => {
    const peak = peakPlaces.get(index);
    const node = peak === undefined ? at(batch.nodes, Number(index - batch.sizeBefore)) : at(batch.peaksBefore, peak);
    if (node.length !== NODE_BYTES) throw new RangeError(`node ${index} is neither new nor a peak before the batch`);
    return node;
  };
  const signedRoot = decodeSign1(batch.signedRoot);
  const pathOf = rfc9162InclusionPaths(batch.leaves, nodeAt);
  return (entryId) => {
    const place = places.get(entryId);
    if (place === undefined) return undefined;
    const leafIndex = batch.firstLeaf + BigInt(place);
    return attachRfc9162Inclusion(signedRoot, batch.leaves, leafIndex, pathOf(leafIndex));
  };
}
