import { concatBytes, uint64ToBytes, utf8 } from '../bytes.js';
import { trieKey } from '../massif/trie-entry.js';
import { type Sha256, sha256 } from '../sha256.js';
import { firstName, parseGeneration } from './log-generation.js';

const LEAF_DOMAIN = Uint8Array.of(0);

/** The extra bytes of a fork statement's leaf in an MMR log: 2, then zeros. The first byte tells it from events. */
export const FORK_EXTRA_BYTES: Uint8Array = concatBytes(Uint8Array.of(2), new Uint8Array(23));

/** The trie key of a fork statement's leaf in an MMR log. @param log the name of the new log */
export function forkTrieKey(log: string, hash: Sha256 = sha256): Uint8Array {
  return trieKey(utf8(firstName(log)), `forks/${parseGeneration(log)?.generation ?? 0}`, hash);
}

/** The leaf of a fork statement in an MMR log: SHA-256 of a zero byte, the extra bytes, the idtimestamp and the statement. */
export function forkLeaf(statement: Uint8Array, idtimestamp: bigint, hash: Sha256 = sha256): Uint8Array {
  return hash(LEAF_DOMAIN, FORK_EXTRA_BYTES, uint64ToBytes(idtimestamp), statement);
}
