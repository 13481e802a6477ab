import { uuidTimeMs } from './uuid-time.js';
import type { PendingWork } from './work-store.js';

/** The pending work of the ledger at this moment. */
export interface LedgerLag {
  /** Age of the oldest entry that waits for a log that is not halted; 0 if nothing waits. */
  readonly oldestWaitingMs: number;
  /** Logs that were stopped and wait for an operator. */
  readonly haltedLogs: number;
}

/** How far the sequencers of all processes are behind. */
export function sequencerLag({ oldestEntryIds, haltedLogs }: PendingWork, nowMs: number): LedgerLag {
  const ages = oldestEntryIds.flatMap((entryId) => {
    const made = uuidTimeMs(entryId);
    return made === undefined ? [] : [nowMs - made];
  });
  return { oldestWaitingMs: Math.max(0, ...ages), haltedLogs };
}
