import type { ParentHash } from '../mmr/parent-hash.js';
import { sha256 } from '../sha256.js';

const NODE = Uint8Array.of(1);

/** Interior node (RFC 9162 section 2.1.1); the position is not part of it. */
export const rfc9162Parent: ParentHash = (_position, left, right) => sha256(NODE, left, right);
