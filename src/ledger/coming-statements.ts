import { storedLeafEntry } from './leaf-entries.js';
import type { LogState } from './log.js';
import type { StoredStatement } from './statement-store.js';
import type { WaitingBatch } from './waiting-batch.js';

/**
 * Registered statements whose transaction is about to be committed, for a statement log. A quiet log prepares their batch
 * meanwhile, and stores it when they are committed.
 */
export interface ComingStatements {
  /** In the order of their ids. */
  readonly statements: readonly StoredStatement[];
  /** Whether they were committed, with their intake rows; false if that is not known. Never fails. */
  readonly committed: Promise<boolean>;
}

/** Meanwhile the log brings in nothing else. Those that come later wait in the intake, where the next sweep finds them. */
const MOST_WAIT_MS = 1_000;

/** The same, which count as not committed if that is not known within a second. */
export function comingSoon({ statements, committed }: ComingStatements): ComingStatements {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, MOST_WAIT_MS, false);
  });
  return { statements, committed: Promise.race([committed, late]).finally(() => clearTimeout(timer)) };
}

/**
 * The batch of these statements, as it will wait for the log.
 * @param came whether they wait; fails if the log is not as the batch takes it to be
 */
export function comingBatch(log: LogState, { statements }: ComingStatements, came: Promise<boolean>): WaitingBatch {
  const leafOf = storedLeafEntry(log);
  return {
    entries: statements.map(({ tenantId, eventId }) => ({
      entryId: eventId,
      entryKind: 'statement',
      entryTenantId: tenantId,
    })),
    more: false,
    done: new Set(),
    leaves: new Map(statements.map((statement) => [statement.eventId, leafOf(statement)])),
    unsigned: [],
    came,
  };
}
