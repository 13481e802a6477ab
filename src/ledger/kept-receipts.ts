import type { Database } from '../platform/postgres/database.js';
import { keepUnderKeys } from './kept-under-keys.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogRef } from './log.js';
import { statementReceipts } from './receipts.js';
import type { ReceiptOf } from './sealed-batch.js';

/** Receipts do not change until a key is revoked, so those that were read are kept, up to this many bytes. */
const KEPT_BYTES = 32 * 1024 * 1024;

/** The receipts of statement logs that were used last. */
export interface KeptReceipts {
  find(log: LogRef, entryId: string): Uint8Array | undefined;
  /** Keeps a receipt. Returns false, and keeps nothing, if a revoked key signed it: a later seal replaces it. */
  keep(log: LogRef, entryId: string, receipt: Uint8Array): boolean;
  /** Returns the kept receipt. Without one, makes it and keeps it. Undefined if it cannot be made. */
  findOrMake(log: LogRef, entryId: string, receiptOf: ReceiptOf): Uint8Array | undefined;
  /** Reads receipts in one transaction, whether they are kept or not, and keeps them. Without those of unsealed entries. */
  read(log: LogRef, entryIds: readonly string[]): Promise<Map<string, Uint8Array>>;
}

/** Keeps receipts as long as the keys that signed them count. */
export function keepReceipts(deps: {
  readonly database: Database;
  readonly keyring: Pick<LedgerContext['keyring'], 'everyKey'>;
}): KeptReceipts {
  const kept = keepUnderKeys(deps.keyring, { maxBytes: KEPT_BYTES, entryBytes: 200 });
  return {
    find: (log, entryId) => kept().find(nameOf(log, entryId))?.bytes,
    keep: (log, entryId, bytes) => kept().keep(nameOf(log, entryId), { bytes }),
    findOrMake(log, entryId, receiptOf) {
      const { find, keep } = kept();
      const name = nameOf(log, entryId);
      const bytes = find(name)?.bytes ?? receiptOf(entryId);
      if (bytes) keep(name, { bytes });
      return bytes;
    },
    async read(log, entryIds) {
      const { keys, keep } = kept();
      const found = await deps.database.inTransaction({ read: [log.tenantId], write: [] }, (tx) =>
        statementReceipts(tx, log, entryIds, keys),
      );
      for (const [entryId, bytes] of found) keep(nameOf(log, entryId), { bytes });
      return found;
    },
  };
}

function nameOf({ logId }: LogRef, entryId: string): string {
  return `${logId}/${entryId}`;
}
