import type { Database } from '../platform/postgres/database.js';
import { uuidTimeMs } from './uuid-time.js';
import { owedWork } from './work-store.js';

/** The pending work of the ledger at this moment. */
export interface LedgerLag {
  /** Age of the oldest entry that waits for a log that is not halted; 0 if nothing waits. */
  readonly oldestWaitingMs: number;
  /** Logs that were stopped and wait for an operator. */
  readonly haltedLogs: number;
}

/** Reads the pending work from the rows, for all processes. */
export async function sequencerLag(database: Database, nowMs: number): Promise<LedgerLag> {
  const { oldestEntryIds, haltedLogs } = await database.inTransaction('system', owedWork);
  const ages = oldestEntryIds.flatMap((entryId) => {
    const made = uuidTimeMs(entryId);
    return made === undefined ? [] : [nowMs - made];
  });
  return { oldestWaitingMs: Math.max(0, ...ages), haltedLogs };
}
