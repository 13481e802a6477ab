// The one hash import of the pure core. Synchronous, so that the tree algorithms keep the shape of their drafts;
// the service may hand in node:crypto's faster form wherever a `Sha256` is a parameter.
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from './bytes.js';

/** SHA-256 of the concatenation of its arguments: 32 bytes. */
export type Sha256 = (...parts: readonly Uint8Array[]) => Uint8Array;

/** SHA-256 (FIPS 180-4) in pure JavaScript, the same in Node and in a browser. */
export const sha256: Sha256 = (...parts) => nobleSha256(parts.length === 1 ? parts[0]! : concatBytes(...parts));
