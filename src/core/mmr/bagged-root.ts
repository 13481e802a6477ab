import { sha256 } from '../sha256.js';

/**
 * Returns one hash for an MMR's peaks (left to right): from the right, SHA-256 of the hash so far and the next peak,
 * without a position. Clients know it as `merklelog_entry.confirm.root`. No proof of ours relies on it.
 * @throws {RangeError} if there is no peak
 */
export function baggedRoot(peaks: readonly Uint8Array[]): Uint8Array {
  if (peaks.length === 0) throw new RangeError('an empty tree has no bagged root');
  return peaks.reduceRight((gathered, peak) => sha256(gathered, peak));
}
