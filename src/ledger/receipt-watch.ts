import type { Logger } from '../platform/logger.js';
import type { Database } from '../platform/postgres/database.js';
import type { LogRef } from './log.js';
import { findLog } from './log-store.js';
import { statementReceipts } from './receipts.js';

const LOOK_MS = 20;

/** Waits for receipts of statement logs, sealed by any process. */
export interface ReceiptWatch {
  /** The entry's receipt as soon as a published root covers it; undefined if the time ends first. */
  receipt(log: LogRef, entryId: string, withinMs: number): Promise<Uint8Array | undefined>;
}

interface Waiting {
  readonly entryId: string;
  settle(receipt: Uint8Array | undefined): void;
}

/** All waiting callers of one log. */
interface Queue {
  readonly log: LogRef;
  readonly waiting: Set<Waiting>;
  /** A new caller has arrived, which may wait for a seal that is already published. */
  newcomers: boolean;
  publishedNumber: bigint;
}

/** One query per log serves all waiting callers: it reads their receipts together, after a new seal or a new caller. */
export function createReceiptWatch(deps: { readonly database: Database; readonly logger: Logger }): ReceiptWatch {
  const queues = new Map<string, Queue>();

  async function look(queue: Queue): Promise<void> {
    const { log } = queue;
    const asked = [...queue.waiting];
    const found = await deps.database.inTransaction({ read: [log.tenantId], write: [] }, async (tx) => {
      const { publishedNumber = 0n } = (await findLog(tx, log)) ?? {};
      if (!queue.newcomers && publishedNumber === queue.publishedNumber) return undefined;
      queue.newcomers = false;
      queue.publishedNumber = publishedNumber;
      return statementReceipts(tx, log, [...new Set(asked.map(({ entryId }) => entryId))]);
    });
    for (const each of asked) {
      const receipt = found?.get(each.entryId);
      if (receipt) each.settle(receipt);
    }
  }

  async function watch(queue: Queue): Promise<void> {
    while (queue.waiting.size > 0) {
      try {
        await look(queue);
      } catch (error) {
        queue.newcomers = true;
        deps.logger.warn({ err: error, logId: queue.log.logId }, 'waiting receipts could not be read');
      }
      if (queue.waiting.size > 0) await new Promise((wake) => setTimeout(wake, LOOK_MS));
    }
    queues.delete(queue.log.logId);
  }

  return {
    receipt(log, entryId, withinMs) {
      return new Promise((resolve) => {
        const known = queues.get(log.logId);
        const queue = known ?? { log, waiting: new Set(), newcomers: true, publishedNumber: 0n };
        const each: Waiting = {
          entryId,
          settle(receipt) {
            clearTimeout(late);
            queue.waiting.delete(each);
            resolve(receipt);
          },
        };
        const late = setTimeout(() => each.settle(undefined), withinMs);
        queue.newcomers = true;
        queue.waiting.add(each);
        if (known) return;
        queues.set(log.logId, queue);
        void watch(queue);
      });
    },
  };
}
