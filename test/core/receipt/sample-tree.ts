import { utf8 } from '../../../src/core/bytes.js';
import { appendLeaves } from '../../../src/core/mmr/append-leaves.js';
import { hashPosPair64 } from '../../../src/core/mmr/hash-pos-pair64.js';
import { sha256 } from '../../../src/core/sha256.js';

export const leafAt = (at: number): Uint8Array => sha256(utf8(`leaf ${at}`));

/** An MMR of the first leaves, from the empty one. */
export function treeOf(leaves: number): ReturnType<typeof appendLeaves> {
  return appendLeaves(
    hashPosPair64,
    0n,
    [],
    Array.from({ length: leaves }, (_, at) => leafAt(at)),
  );
}
