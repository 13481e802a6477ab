import { equalBytes } from '../../core/bytes.js';
import type { LogState } from '../../ledger/log.js';
import { sealObjectBytes, sealObjectKey } from '../../ledger/seal-object.js';
import { findSeal, type SealRow } from '../../ledger/seal-store.js';
import { ApiError } from '../../platform/errors.js';
import type { ObjectStore } from '../../platform/object-store.js';
import type { Database } from '../../platform/postgres/database.js';

/**
 * Returns the last seal of a log in the database; undefined if it has none. The object store must have the same bytes:
 * otherwise the two never were one log.
 * @throws {ApiError} conflict
 */
export async function knownSeal(
  { database, objectStore }: { readonly database: Database; readonly objectStore: ObjectStore },
  log: LogState,
): Promise<SealRow | undefined> {
  if (log.size !== log.sealedSize)
    throw new ApiError('conflict', 'This database holds entries of the log without a seal: restore another copy.');
  if (log.sealNumber === 0n) return undefined;
  const seal = await database.inTransaction('system', (tx) => findSeal(tx, log, log.sealNumber));
  const kept = await objectStore.get(sealObjectKey(log, log.sealNumber));
  const isPublished = log.publishedNumber === log.sealNumber;
  if (!seal || (kept && !equalBytes(kept, sealObjectBytes(log.structure, seal))) || (!kept && isPublished))
    throw new ApiError(
      'conflict',
      'The object store has another last seal than the database: the two come from different histories. Restore both from the same moment.',
    );
  return seal;
}
