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
