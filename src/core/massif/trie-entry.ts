import { concatBytes, uint64FromBytes, uint64ToBytes, utf8 } from '../bytes.js';
import { type Sha256, sha256 } from '../sha256.js';
import { TRIE_ENTRY_BYTES } from './massif-layout.js';

/** What a massif keeps beside a leaf. */
export interface TrieEntry {
  /** 32 bytes: `trieKey`. */
  readonly key: Uint8Array;
  /** 24 bytes; the first names the leaf's hash scheme. */
  readonly extraBytes: Uint8Array;
  /** Without its epoch. */
  readonly idtimestamp: bigint;
}

const DOMAIN = Uint8Array.of(0);

/**
 * Returns the key under which an entry is found: SHA-256 of a zero byte, the log's id and the entry's identity in its
 * log. For asset events these are UTF-8 of `tenant/<uuid>` and of the permissioned identity; for asset-free events the
 * 16 bytes of the uuid and UTF-8 of `events/<uuid>`.
 */
export function trieKey(logId: Uint8Array, appId: string, hash: Sha256 = sha256): Uint8Array {
  return hash(DOMAIN, logId, utf8(appId));
}

/** Returns the 64 bytes: key, extra bytes, id. @throws {TypeError} if a part has the wrong length */
export function encodeTrieEntry(entry: TrieEntry): Uint8Array {
  if (entry.key.length !== 32 || entry.extraBytes.length !== 24)
    throw new TypeError('a trie entry has a key of 32 bytes and 24 extra bytes');
  return concatBytes(entry.key, entry.extraBytes, uint64ToBytes(entry.idtimestamp));
}

/**
 * Returns the entry at a byte offset. Key and extra bytes are views of `bytes`.
 * @throws {RangeError} if `bytes` ends before the entry does
 */
export function decodeTrieEntry(bytes: Uint8Array, offset = 0): TrieEntry {
  if (bytes.length < offset + TRIE_ENTRY_BYTES) throw new RangeError('a trie entry is 64 bytes');
  return {
    key: bytes.subarray(offset, offset + 32),
    extraBytes: bytes.subarray(offset + 32, offset + 56),
    idtimestamp: uint64FromBytes(bytes, offset + 56),
  };
}
