// The one hash import of the pure core. Synchronous, so that the tree algorithms keep the shape of their drafts;
// the service may hand in node:crypto's faster form wherever a `Sha256` is a parameter.
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';

/** SHA-256 of the concatenation of its arguments: 32 bytes. */
export type Sha256 = (...parts: readonly Uint8Array[]) => Uint8Array;

const fresh = nobleSha256.create();
/** Used for every hash: a state of its own would cost a tree's node as much as hashing it. */
const state = nobleSha256.create();
const digest = new Uint8Array(32);

/** SHA-256 (FIPS 180-4) in pure JavaScript, the same in Node and in a browser. */
export const sha256: Sha256 = (...parts) => {
  fresh._cloneInto(state);
  for (const part of parts) state.update(part);
  state.digestInto(digest);
  return digest.slice();
};
