import type { LogRef } from './log.js';
import type { ReceiptOf } from './sealed-batch.js';

/** So many of a log's last batches are remembered for entries that they cover and that nobody waits for yet. */
const RECENT = 8;

/** The batches that were announced last, of each log that somebody follows. */
interface RecentBatches {
  /**
   * Remembers an announced batch.
   * @param logId undefined: announcements of any log may have been missed
   * @param receiptOf undefined: the announcement had no batch
   */
  heard(logId: string | undefined, receiptOf: ReceiptOf | undefined): void;
  /** Returns a function that finds an entry in the batches that are announced after this call. */
  follow(log: LogRef): (entryId: string) => HeardReceipt;
}

/**
 * The receipt of an entry. `unsealed`: none of the batches covers it. `unknown`: an announcement had no batch, or its
 * batch is forgotten; then only the database knows.
 */
type HeardReceipt = Uint8Array | 'unsealed' | 'unknown';

/** What was announced of one log. */
interface Heard {
  count: number;
  /** The last announcements; undefined for one without a batch. */
  readonly last: (ReceiptOf | undefined)[];
}

/** Never forgets a log that is followed: the service follows its statement logs only. */
export function rememberBatches(): RecentBatches {
  const logs = new Map<string, Heard>();
  return {
    heard(logId, receiptOf) {
      for (const [followed, log] of logs) if (logId === undefined || logId === followed) remember(log, receiptOf);
    },
    follow({ logId }) {
      const log = logs.get(logId) ?? { count: 0, last: [] };
      logs.set(logId, log);
      const before = log.count;
      return (entryId) => receiptSince(log, before, entryId);
    },
  };
}

function remember(log: Heard, receiptOf: ReceiptOf | undefined): void {
  log.count += 1;
  log.last.push(receiptOf);
  if (log.last.length > RECENT) log.last.shift();
}

/** @param before how many announcements had been heard when the log was followed */
function receiptSince({ count, last }: Heard, before: number, entryId: string): HeardReceipt {
  const since = count === before ? [] : last.slice(before - count);
  if (since.length < count - before) return 'unknown';
  for (const receiptOf of since) {
    if (!receiptOf) return 'unknown';
    const receipt = receiptOf(entryId);
    if (receipt) return receipt;
  }
  return 'unsealed';
}
