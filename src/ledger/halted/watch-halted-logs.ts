import type { Logger } from '../../platform/logger.js';
import { newestLook } from '../../platform/newest-look.js';
import type { Database } from '../../platform/postgres/database.js';
import { createRepeat } from '../repeat.js';
import { findHaltedLogs, type HaltedLog } from './halted-log-store.js';

const LOOK_EVERY_MS = 1_000;
const MOST = 10_000;

/** The halted logs, in memory, so that every request can be checked at no cost. */
export interface HaltedLogs {
  has(logId: string): boolean;
  /** By id. */
  list(): readonly HaltedLog[];
  /** Reads them now. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** Knows the halted logs from the start; a halt by another process arrives within about a second. */
export async function watchHaltedLogs(deps: {
  readonly database: Database;
  readonly logger: Logger;
}): Promise<HaltedLogs> {
  let halted: ReadonlyMap<string, HaltedLog> = new Map();
  const refresh = newestLook(
    () => deps.database.inTransaction('system', (tx) => findHaltedLogs(tx, MOST)),
    (found) => {
      halted = new Map(found.map((log) => [log.logId, log]));
    },
  );
  await refresh();
  const repeat = createRepeat(
    () => LOOK_EVERY_MS,
    () =>
      refresh().catch((error: unknown) =>
        deps.logger.warn({ err: error }, 'the halted logs could not be read; this is retried'),
      ),
  );
  repeat.start();
  return {
    has: (logId) => halted.has(logId),
    list: () => [...halted.values()],
    refresh,
    close: () => repeat.stop(),
  };
}
