import { retryLater } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { Database } from '../platform/postgres/database.js';
import { entriesWaiting } from './intake-store.js';
import { createRepeat } from './repeat.js';

const COUNT_EVERY_MS = 1_000;
/** Counting many rows takes time itself: at most one part in so many of it. */
const SHARE = 20;
/** A count that waited for a busy machine says nothing about its cost, and must not hide a backlog for a minute. */
const LONGEST_PAUSE_MS = 5_000;
const RETRY_SECONDS = 5;

/** The entries that wait for all logs, counted or estimated about once a second, and at least every few seconds. */
export interface Backlog {
  /** @throws {ApiError} unavailable, with the time to wait, while the limit was reached at the last count */
  admit(): void;
  /** Whether writes are refused. */
  isFull(): boolean;
  start(): void;
  stop(): Promise<void>;
}

/**
 * Refuses writes while the sequencers are so far behind that `limit` entries wait. They are those of the database, for
 * all processes; between two counts somewhat more may come in.
 * @param parts.waiting receives each count, at most `limit`
 */
export function createBacklog(parts: {
  readonly database: Database;
  readonly limit: number;
  readonly logger: Logger;
  readonly waiting: (entries: number) => void;
}): Backlog {
  const { database, limit, logger } = parts;
  let full = false;
  let pauseMs = COUNT_EVERY_MS;

  async function count(): Promise<void> {
    const begun = performance.now();
    try {
      const entries = await database.inTransaction('system', (tx) => entriesWaiting(tx, limit));
      if (entries >= limit !== full)
        logger.warn({ entries }, full ? 'writes are accepted again' : 'too many entries wait: writes are refused');
      full = entries >= limit;
      parts.waiting(entries);
    } catch (error) {
      logger.warn({ err: error }, 'could not count the waiting entries');
    }
    const cost = performance.now() - begun;
    pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(COUNT_EVERY_MS, SHARE * cost));
  }

  const counting = createRepeat(() => pauseMs, count);
  return {
    admit() {
      if (full)
        throw retryLater('unavailable', 'Too many entries wait for their logs; try again later.', RETRY_SECONDS);
    },
    isFull: () => full,
    start: () => counting.start(),
    stop: () => counting.stop(),
  };
}
