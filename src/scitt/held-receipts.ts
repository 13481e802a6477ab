import { LRUCache } from 'lru-cache';
import type { LogRef } from '../ledger/log.js';
import type { ComingReceipts, ReceiptWatch } from '../ledger/receipt-watch.js';
import { statementBytes } from '../ledger/statement-store.js';
import { ApiError } from '../platform/errors.js';
import type { Database } from '../platform/postgres/database.js';

/** Clients that follow redirects at once give up after about twenty: a question waits this long for its answer. */
const HELD_MS = 4_000;
/** Questions that wait at once, in this process; more are answered at once. */
const MAX_HELD = 1_000;
const MOST_BEGUN = 10_000;

interface HeldReceiptsDeps {
  readonly database: Database;
  readonly publicTenancy: string;
  readonly publicStatementLog: LogRef;
  readonly receipts: ReceiptWatch;
}

/** Receipts for callers who repeat their request until there is one. */
export interface HeldReceipts {
  /**
   * Remembers that this process has accepted an entry and answered without its receipt. Requests for that receipt then
   * cost no more than a registration that waits for it.
   * @param followed since before the entry was accepted
   */
  begun(entryId: string, followed: ComingReceipts): void;
  /**
   * Waits a few seconds for the receipt of an entry.
   * @returns undefined if it is not there by then
   * @throws {ApiError} not_found
   */
  receipt(entryId: string): Promise<Uint8Array | undefined>;
}

export function createHeldReceipts(deps: HeldReceiptsDeps): HeldReceipts {
  const { publicStatementLog: log, publicTenancy, receipts } = deps;
  const begun = new LRUCache<string, ComingReceipts>({ max: MOST_BEGUN });
  let waiting = 0;

  async function requireEntry(entryId: string): Promise<void> {
    const isEntry = await deps.database.inTransaction({ read: [publicTenancy], write: [] }, (tx) =>
      statementBytes(tx, publicTenancy, entryId),
    );
    if (!isEntry) throw new ApiError('not_found', 'There is no registration, running or finished, with this id.');
  }

  return {
    begun: (entryId, followed) => void begun.set(entryId, followed),
    async receipt(entryId) {
      const followed = waiting < MAX_HELD ? begun.get(entryId) : undefined;
      if (!followed) {
        const known = await receipts.read(log, entryId);
        if (known) return known;
        await requireEntry(entryId);
        if (waiting >= MAX_HELD) return undefined;
      }
      waiting += 1;
      try {
        const receipt = await (followed ? followed.receipt(entryId, HELD_MS) : receipts.receipt(log, entryId, HELD_MS));
        // From now on it is kept with those that were read.
        if (receipt) begun.delete(entryId);
        return receipt;
      } finally {
        waiting -= 1;
      }
    },
  };
}
