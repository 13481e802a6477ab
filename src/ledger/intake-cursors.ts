import { LRUCache } from 'lru-cache';
import { FIRST_ENTRY } from './intake-store.js';
import type { LogRef } from './log.js';
import { firstUuidOf, uuidTimeMs } from './uuid-time.js';
import type { WaitingBatch } from './waiting-batch.js';

/** An entry's id is older than its commit: by more than this only if its transaction was held up. */
const LATE_MS = 5_000;
/** So often, at most, a late entry waits for a look at the whole intake. */
const WHOLE_EVERY_MS = 5_000;
const MOST_LOGS = 10_000;

interface Cursor {
  after: string;
  wholeAtMs: number;
}

/**
 * Where each log's intake begins, as far as this process knows. The database keeps removed rows while an older
 * transaction runs, for example a backup; rounds begin after them instead of reading over them each time.
 */
export interface IntakeCursors {
  /**
   * Reads a round's first batch: a little before the last entry that was passed; from the very beginning if nothing
   * waits there, and every few seconds, because an entry may be committed late.
   */
  first(log: LogRef, nowMs: number, read: (after: string) => Promise<WaitingBatch>): Promise<WaitingBatch>;
  /** Records that a batch ended with this entry. */
  passed(log: LogRef, entryId: string): void;
}

export function createIntakeCursors(): IntakeCursors {
  const cursors = new LRUCache<string, Cursor>({ max: MOST_LOGS });
  return {
    async first(log, nowMs, read) {
      const cursor = cursors.get(log.logId);
      if (cursor && Math.abs(nowMs - cursor.wholeAtMs) < WHOLE_EVERY_MS) {
        const batch = await read(cursor.after);
        if (batch.entries.length > 0) return batch;
      }
      if (cursor) cursor.wholeAtMs = nowMs;
      return read(FIRST_ENTRY);
    },
    passed(log, entryId) {
      const time = uuidTimeMs(entryId);
      if (time === undefined) return;
      const cursor = cursors.get(log.logId) ?? { after: FIRST_ENTRY, wholeAtMs: 0 };
      cursors.set(log.logId, cursor);
      const after = firstUuidOf(time - LATE_MS);
      if (after > cursor.after) cursor.after = after;
    },
  };
}
