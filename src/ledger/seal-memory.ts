import { LRUCache } from 'lru-cache';
import { equalBytes } from '../core/bytes.js';
import type { LogRef } from './log.js';

/** So many logs are remembered; the longest unused are forgotten and then verified again. */
const MOST_LOGS = 10_000;

interface Verified {
  readonly signed: Uint8Array;
  readonly peaks: readonly Uint8Array[];
}

/**
 * The last seal of each log that this process has verified, with the peaks under it. A round reads both from the
 * database again: if they are the same bytes, only the signature need not be checked again.
 */
export interface SealMemory {
  knows(log: LogRef, signed: Uint8Array, peaks: readonly Uint8Array[]): boolean;
  /** Call only after the signature over these peaks was verified. */
  remember(log: LogRef, signed: Uint8Array, peaks: readonly Uint8Array[]): void;
}

export function createSealMemory(): SealMemory {
  const verified = new LRUCache<string, Verified>({ max: MOST_LOGS });
  return {
    knows(log, signed, peaks) {
      const known = verified.get(log.logId);
      return (
        known !== undefined &&
        equalBytes(known.signed, signed) &&
        known.peaks.length === peaks.length &&
        known.peaks.every((peak, place) => equalBytes(peak, peaks[place]!))
      );
    },
    remember(log, signed, peaks) {
      verified.set(log.logId, { signed, peaks });
    },
  };
}
