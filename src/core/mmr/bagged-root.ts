import { sha256 } from '../sha256.js';

/**
 * One hash for an MMR's peaks (left to right): from the right, SHA-256 of what is gathered so far and the next peak, no
 * position. Clients know it as `merklelog_entry.confirm.root`; nothing of ours is proved by it.
 * @throws {RangeError} when there is no peak
 */
export function baggedRoot(peaks: readonly Uint8Array[]): Uint8Array {
  if (peaks.length === 0) throw new RangeError('an empty tree has no bagged root');
  return peaks.reduceRight((gathered, peak) => sha256(gathered, peak));
}
