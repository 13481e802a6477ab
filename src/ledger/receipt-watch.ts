import { inPieces } from '../platform/in-pieces.js';
import type { Logger } from '../platform/logger.js';
import type { Announcements } from '../platform/postgres/announcements.js';
import type { Database } from '../platform/postgres/database.js';
import { keepUnderKeys } from './kept-under-keys.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogRef } from './log.js';
import { statementReceipts } from './receipts.js';
import { batchReceipts, type SealedBatch } from './sealed-batch.js';

/**
 * The channel on which ledgers announce the id of a log that has a new published seal; in their own process together
 * with the `SealedBatch`.
 */
export const SEAL_PUBLISHED = 'seal_published';

/** An announcement can be lost: without one, waiting callers look after this time. */
const LOOK_AFTER_MS = 500;
/** Receipts do not change until a key is revoked, so those that were read are kept, up to this many bytes. */
const KEPT_BYTES = 32 * 1024 * 1024;
/** So many of a log's last batches are remembered for entries that they cover and that nobody waits for yet. */
const RECENT = 8;

/** Waits for receipts of statement logs, sealed by any process. */
export interface ReceiptWatch {
  /** The entry's receipt as soon as a published root covers it; undefined if the time ends first. */
  receipt(log: LogRef, entryId: string, withinMs: number): Promise<Uint8Array | undefined>;
  /** Notices what is published from now on, for entries that do not exist yet. */
  follow(log: LogRef): FollowedLog;
  /**
   * Resolves when a seal of one of these logs is published after the call, at the latest after this time, or after half
   * a second, because an announcement can be lost.
   */
  nextSeal(logs: readonly LogRef[], withinMs: number): Promise<void>;
  /** The entry's receipt as the database has it now; without a query if it was read before. */
  read(log: LogRef, entryId: string): Promise<Uint8Array | undefined>;
  close(): void;
}

/** A log since a moment before some entries were accepted. */
export interface FollowedLog {
  /**
   * The receipt of an entry that was accepted since then: without a query until a seal is published.
   * @returns undefined if the time ends first
   */
  receipt(entryId: string, withinMs: number): Promise<Uint8Array | undefined>;
}

interface Waiting {
  readonly entryId: string;
  /** The ledger knows that somebody waits for it. */
  wanted: boolean;
  settle(receipt: Uint8Array | undefined): void;
}

/** All waiting callers of one log. */
interface Queue {
  readonly log: LogRef;
  readonly waiting: Set<Waiting>;
  /** Something may be there that the last look did not see. */
  stale: boolean;
  looking: boolean;
  timer?: NodeJS.Timeout;
}

/** Makes the receipt of an entry that a published seal was the first to cover; undefined for other entries. */
type ReceiptOf = (entryId: string) => Uint8Array | undefined;

/** What was announced of a log that somebody follows. */
interface Heard {
  count: number;
  /** The last announcements; undefined for one without a batch. */
  readonly last: (ReceiptOf | undefined)[];
}

interface Sleeper {
  readonly logIds: readonly string[];
  wake(): void;
}

/**
 * Receipts of what this process has sealed are made without a query. Otherwise one transaction serves all waiting callers
 * of a log: it reads their receipts together after each published seal.
 */
export function createReceiptWatch(deps: {
  readonly database: Database;
  readonly announcements: Announcements;
  readonly keyring: Pick<LedgerContext['keyring'], 'everyKey'>;
  readonly logger: Logger;
  /** Called when a caller begins to wait for an entry of this log that is not sealed yet. Must not throw. */
  readonly wanted: (log: LogRef) => void;
  /** How long waiting callers rely on announcements; half a second unless told. */
  readonly lookAfterMs?: number;
}): ReceiptWatch {
  const { lookAfterMs = LOOK_AFTER_MS } = deps;
  const queues = new Map<string, Queue>();
  const kept = keepUnderKeys(deps.keyring, { maxBytes: KEPT_BYTES, entryBytes: 200 });
  const sleepers = new Set<Sleeper>();
  /** By log; the service follows its statement logs only. */
  const heard = new Map<string, Heard>();

  const stop = deps.announcements.hear(SEAL_PUBLISHED, (logId, batch) => {
    const receiptOf = batch ? made(batch as SealedBatch) : undefined;
    for (const [followed, of] of heard) if (logId === undefined || logId === followed) remember(of, receiptOf);
    for (const queue of queues.values()) {
      if (logId !== undefined && logId !== queue.log.logId) continue;
      if (receiptOf) void settleFrom(queue, receiptOf);
      else look(queue);
    }
    for (const sleeper of sleepers) if (logId === undefined || sleeper.logIds.includes(logId)) sleeper.wake();
  });

  const keptReceipt = (log: LogRef, entryId: string) => kept().find(nameOf(log, entryId))?.bytes;

  async function readTogether(log: LogRef, entryIds: readonly string[]): Promise<Map<string, Uint8Array>> {
    const { keys, keep } = kept();
    const found = await deps.database.inTransaction({ read: [log.tenantId], write: [] }, (tx) =>
      statementReceipts(tx, log, entryIds, keys),
    );
    for (const [entryId, bytes] of found) keep(nameOf(log, entryId), { bytes });
    return found;
  }

  async function readReceipts(queue: Queue): Promise<void> {
    const { log } = queue;
    const asked = [...queue.waiting];
    const found = await readTogether(log, [...new Set(asked.map(({ entryId }) => entryId))]);
    for (const each of asked) {
      const receipt = found.get(each.entryId);
      if (receipt) each.settle(receipt);
    }
    const unsealed = asked.filter(({ entryId, wanted }) => !wanted && !found.has(entryId));
    if (unsealed.length > 0) deps.wanted(log);
    for (const each of unsealed) each.wanted = true;
  }

  /**
   * Who waits for another entry waits for a later seal, which is announced as well. A bulk registration waits for a
   * thousand receipts, so other requests are served in between.
   */
  async function settleFrom(queue: Queue, receiptOf: ReceiptOf): Promise<void> {
    try {
      await inPieces([...queue.waiting], (each) => {
        if (!queue.waiting.has(each)) return;
        const { find, keep } = kept();
        const name = nameOf(queue.log, each.entryId);
        const receipt = find(name)?.bytes ?? receiptOf(each.entryId);
        if (!receipt) return;
        keep(name, { bytes: receipt });
        each.settle(receipt);
      });
    } catch (error) {
      deps.logger.warn({ err: error, logId: queue.log.logId }, 'receipts could not be made from their batch');
      look(queue);
    }
    leave(queue);
  }

  function heardOf(log: LogRef): Heard {
    const of = heard.get(log.logId) ?? { count: 0, last: [] };
    heard.set(log.logId, of);
    return of;
  }

  /**
   * Looks for an entry in what was announced after `before`. Undefined if an announcement had no batch or is forgotten,
   * or if the key of its batch was revoked: then only the database knows.
   */
  function recent(log: LogRef, entryId: string, before: number): { receipt: Uint8Array | undefined } | undefined {
    const { count, last } = heardOf(log);
    const missed = count === before ? [] : last.slice(before - count);
    if (missed.length < count - before) return undefined;
    for (const receiptOf of missed) {
      if (!receiptOf) return undefined;
      const receipt = receiptOf(entryId);
      if (receipt) return kept().keep(nameOf(log, entryId), { bytes: receipt }) ? { receipt } : undefined;
    }
    return { receipt: undefined };
  }

  /** Looks now, or again after the look under way. */
  function look(queue: Queue): void {
    queue.stale = true;
    if (!queue.looking) void lookWhileStale(queue);
  }

  async function lookWhileStale(queue: Queue): Promise<void> {
    queue.looking = true;
    try {
      while (queue.stale && queue.waiting.size > 0) {
        queue.stale = false;
        await readReceipts(queue);
      }
    } catch (error) {
      deps.logger.warn({ err: error, logId: queue.log.logId }, 'waiting receipts could not be read');
    } finally {
      queue.looking = false;
    }
    leave(queue);
  }

  /** Forgets a log for which nobody waits; otherwise sets the next look. */
  function leave(queue: Queue): void {
    clearTimeout(queue.timer);
    if (queue.waiting.size > 0) queue.timer = setTimeout(() => look(queue), lookAfterMs).unref();
    else if (!queue.looking && queues.get(queue.log.logId) === queue) queues.delete(queue.log.logId);
  }

  function queueOf(log: LogRef): Queue {
    const queue = queues.get(log.logId) ?? { log, waiting: new Set(), stale: false, looking: false };
    queues.set(log.logId, queue);
    return queue;
  }

  /** @param soon whether the receipt may be there already */
  function wait(log: LogRef, entryId: string, withinMs: number, soon: boolean): Promise<Uint8Array | undefined> {
    const known = keptReceipt(log, entryId);
    if (known) return Promise.resolve(known);
    if (!soon) deps.wanted(log);
    return new Promise((resolve) => {
      const queue = queueOf(log);
      const each: Waiting = {
        entryId,
        wanted: !soon,
        settle(receipt) {
          clearTimeout(late);
          queue.waiting.delete(each);
          resolve(receipt);
        },
      };
      const late = setTimeout(() => {
        each.settle(undefined);
        if (queue.waiting.size === 0) leave(queue);
      }, withinMs);
      queue.waiting.add(each);
      if (soon) look(queue);
      else if (!queue.looking && queue.waiting.size === 1) leave(queue);
    });
  }

  return {
    receipt: (log, entryId, withinMs) => wait(log, entryId, withinMs, true),
    follow(log) {
      const before = heardOf(log).count;
      return {
        receipt(entryId, withinMs) {
          const found = recent(log, entryId, before);
          if (found?.receipt) return Promise.resolve(found.receipt);
          return wait(log, entryId, withinMs, found === undefined);
        },
      };
    },
    nextSeal: (logs, withinMs) =>
      new Promise((resolve) => {
        for (const log of logs) deps.wanted(log);
        const wake = (): void => {
          clearTimeout(late);
          sleepers.delete(sleeper);
          resolve();
        };
        const sleeper: Sleeper = { logIds: logs.map(({ logId }) => logId), wake };
        const late = setTimeout(wake, Math.min(withinMs, lookAfterMs));
        sleepers.add(sleeper);
      }),
    async read(log, entryId) {
      const known = keptReceipt(log, entryId);
      return known ?? (await readTogether(log, [entryId])).get(entryId);
    },
    close() {
      stop();
      for (const queue of queues.values()) clearTimeout(queue.timer);
    },
  };
}

function nameOf({ logId }: LogRef, entryId: string): string {
  return `${logId}/${entryId}`;
}

/** A batch is read only if somebody asks for one of its receipts. */
function made(batch: SealedBatch): ReceiptOf {
  let receiptOf: ReceiptOf | undefined;
  return (entryId) => {
    receiptOf ??= batchReceipts(batch);
    return receiptOf(entryId);
  };
}

function remember(heard: Heard, receiptOf: ReceiptOf | undefined): void {
  heard.count += 1;
  heard.last.push(receiptOf);
  if (heard.last.length > RECENT) heard.last.shift();
}
