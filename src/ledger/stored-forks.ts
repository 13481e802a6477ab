import type { ForkedAt } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';

const COUNT = /^\d{1,19}$/;

/** A fork as the list in a log's row has it; undefined if it cannot be read. */
function forkedAt(stored: unknown): ForkedAt | undefined {
  if (typeof stored !== 'object' || stored === null) return undefined;
  const { generation, seal_number: sealNumber, leaves, entry_id: entryId } = stored as Record<string, unknown>;
  if (!Number.isSafeInteger(generation) || typeof entryId !== 'string') return undefined;
  if (typeof sealNumber !== 'string' || !COUNT.test(sealNumber)) return undefined;
  if (typeof leaves !== 'string' || !COUNT.test(leaves)) return undefined;
  return { generation: generation as number, sealNumber: BigInt(sealNumber), leaves: BigInt(leaves), entryId };
}

/**
 * Reads the list of open forks in the row of a log.
 * @throws {LogInconsistent} if it is damaged: the name of the log, and of its generations, depends on it
 */
export function readStoredForks(logId: string, stored: unknown): ForkedAt[] {
  const forks = Array.isArray(stored) ? stored.map(forkedAt) : [undefined];
  if (forks.every((fork) => fork !== undefined)) return forks;
  throw new LogInconsistent(
    `the list of forks of log ${logId} (column forks of archivist.log) is damaged: restore another copy of the database`,
  );
}
