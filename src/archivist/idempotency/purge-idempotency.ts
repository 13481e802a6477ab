import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../platform/postgres/database.js';
import { deleteClaims } from './idempotency-store.js';

export interface PurgeDeps {
  readonly database: Database;
  readonly clock: Clock;
}

const KEPT_MS = 30 * 24 * 3_600_000;
/** Small, so that an accept that needs the same connection or row waits only briefly. */
const BATCH = 500;

/**
 * Deletes idempotency keys that are older than 30 days, in transactions of bounded size. Resolves with their number.
 * Keys that remain when it is stopped are deleted in the next run.
 */
export async function purgeIdempotency(
  { database, clock }: PurgeDeps,
  stopping: () => boolean = () => false,
): Promise<number> {
  const before = new Date(clock.now() - KEPT_MS);
  let forgotten = 0;
  for (let deleted = BATCH; deleted === BATCH && !stopping(); forgotten += deleted) {
    deleted = await database.inTransaction('system', (tx) => deleteClaims(tx, before, BATCH));
  }
  return forgotten;
}
