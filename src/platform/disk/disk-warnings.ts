import type { Logger } from '../logger.js';
import { type DiskUse, refusedWhileFull } from './disk-full.js';
import type { DiskState } from './disk-state.js';

/** Only a write finds out whether a reported disk has room. The log calls it full until none has failed for so long. */
const UNREPORTED_MS = 10_000;
/** A full disk is repeated in the log as often as this. */
const LOG_MS = 60_000;

/**
 * Returns a function that tells the log when a disk is full and when it has room again. Call it after each look and each
 * report: it repeats what the log knows once a minute only.
 */
export function createDiskWarnings(parts: {
  readonly reserveBytes: number;
  readonly now: () => number;
  readonly logger: Logger;
}): (state: DiskState, reportedUntilMs: number) => void {
  const { reserveBytes, now, logger } = parts;
  const toldAt = new Map<DiskUse, number>();
  return ({ use, full, freeBytes }, reportedUntilMs) => {
    const told = toldAt.get(use);
    if (!full && told !== undefined && now() - reportedUntilMs > UNREPORTED_MS) {
      toldAt.delete(use);
      logger.warn({ disk: use, freeBytes }, 'there is room on the disk again');
    }
    if (!full || (told !== undefined && now() - told < LOG_MS)) return;
    toldAt.set(use, now());
    const refused = refusedWhileFull(use);
    logger.error(
      { disk: use, freeBytes, reserveBytes },
      `the disk is full: ${refused} are refused until there is room`,
    );
  };
}
