import { uint64ToBytes } from '../bytes.js';
import { type Sha256, sha256 } from '../sha256.js';
import { type V3Event, v3Preimage } from './v3-event.js';

const LEAF_DOMAIN = Uint8Array.of(0);

/**
 * Returns the leaf of an asset event: SHA-256 of a zero byte, the idtimestamp without its epoch, and the event's V3
 * bytes (log format, section 4).
 * @throws {TypeError} if the event cannot be hashed
 */
export function assetEventLeaf(event: V3Event, idtimestamp: bigint, hash: Sha256 = sha256): Uint8Array {
  return hash(LEAF_DOMAIN, uint64ToBytes(idtimestamp), v3Preimage(event));
}
