import { type Sign1, signatureInput } from '../cose/sign1.js';
import type { Proof } from './claim.js';
import type { ProvenNode } from './proven-nodes.js';

/** Bytes that a hash or a signature covers, so that a reader can see and repeat what was computed. */
export interface CoveredBytes {
  readonly bytes: Uint8Array;
  /** Leading bytes that only separate one kind of hash from another, or salt it. */
  readonly prefix: number;
  /** What follows them. */
  readonly form: 'cbor' | 'text';
}

interface Covered {
  /** What the leaf hash is the SHA-256 of. */
  readonly leaf?: (() => CoveredBytes) | undefined;
  /** What the signature is over; of a witness the checkpoint, before which each witness signs its own time. */
  readonly signed?: (() => CoveredBytes) | undefined;
  /** The hashes of the log's tree that its path proves, and the signed root or peak that they lead to. */
  readonly tree?: { readonly root: Uint8Array; nodes(): Iterable<ProvenNode> } | undefined;
}

/** Returns the bytes that a COSE signature covers: its Sig_structure (RFC 9052 section 4.4). */
export const signedBy =
  ({ protectedBytes }: Pick<Sign1, 'protectedBytes'>, payload: Uint8Array) =>
  (): CoveredBytes => ({ bytes: signatureInput(protectedBytes, payload), prefix: 0, form: 'cbor' });

const COVERED = Symbol('covered bytes');

type Noted = { readonly [COVERED]?: Covered };

/**
 * Records what a proof covers, and returns the proof. The record is computed only when `coveredBytes` reads it. It is
 * not enumerable and not copied with the proof, because a verdict states facts and does not repeat the evidence. A
 * WeakMap beside the proofs would do the same, but cost a tenth of a whole verification.
 */
export function covering<Kind extends Proof>(proof: Kind, covered: Covered): Kind {
  const noted = coveredBytes(proof);
  const value: Covered = {
    leaf: covered.leaf ?? noted.leaf,
    signed: covered.signed ?? noted.signed,
    tree: covered.tree ?? noted.tree,
  };
  return Object.defineProperty(proof, COVERED, { value, configurable: true });
}

/** Returns what a proof of a verdict covers; undefined if the check that made it did not record it. */
export function coveredBytes(proof: Proof & Noted): Covered {
  return proof[COVERED] ?? {};
}
