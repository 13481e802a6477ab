import type { Logger } from '../platform/logger.js';
import type { Announcements } from '../platform/postgres/announcements.js';
import type { Database } from '../platform/postgres/database.js';
import { keepReceipts } from './kept-receipts.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogRef } from './log.js';
import { rememberBatches } from './recent-batches.js';
import { createSealSleepers } from './seal-sleepers.js';
import { batchReceipts, type ReceiptOf, type SealedBatch } from './sealed-batch.js';
import { createWaitingCallers, type WaitingCallers } from './waiting-callers.js';

/**
 * The channel on which ledgers announce the id of a log that has a new published seal; in their own process together
 * with the `SealedBatch`.
 */
export const SEAL_PUBLISHED = 'seal_published';

/** An announcement can be lost: without one, waiting callers look after this time. */
const LOOK_AFTER_MS = 500;

/** Waits for receipts of statement logs, sealed by any process. */
export interface ReceiptWatch {
  /** The entry's receipt as soon as a published root covers it; undefined if the time ends first. */
  receipt(log: LogRef, entryId: string, withinMs: number): Promise<Uint8Array | undefined>;
  /** Notices what is published from now on, for entries that do not exist yet. */
  follow(log: LogRef): ComingReceipts;
  /**
   * Resolves when a seal of one of these logs is published after the call, at the latest after this time, or after half
   * a second, because an announcement can be lost.
   */
  nextSeal(logs: readonly LogRef[], withinMs: number): Promise<void>;
  /** The entry's receipt as the database has it now; without a query if it was read before. */
  read(log: LogRef, entryId: string): Promise<Uint8Array | undefined>;
  close(): void;
}

/** Receipts of the entries of a log that are accepted from a moment on. */
export interface ComingReceipts {
  /**
   * The receipt of an entry that was accepted since then: without a query until a seal is published.
   * @returns undefined if the time ends first
   */
  receipt(entryId: string, withinMs: number): Promise<Uint8Array | undefined>;
}

interface ReceiptWatchDeps {
  readonly database: Database;
  readonly announcements: Announcements;
  readonly keyring: Pick<LedgerContext['keyring'], 'everyKey'>;
  readonly logger: Logger;
  /** Called when a caller begins to wait for an entry of this log that is not sealed yet. Must not throw. */
  readonly wanted: (log: LogRef) => void;
  /** How long waiting callers rely on announcements; half a second unless told. */
  readonly lookAfterMs?: number;
}

/**
 * Receipts of what this process has sealed are made without a query. Otherwise one transaction serves all waiting callers
 * of a log: it reads their receipts together after each published seal.
 */
export function createReceiptWatch(deps: ReceiptWatchDeps): ReceiptWatch {
  const { announcements, logger, wanted, lookAfterMs = LOOK_AFTER_MS } = deps;
  const kept = keepReceipts(deps);
  const batches = rememberBatches();
  /** By log, while somebody waits. */
  const waiting = new Map<string, WaitingCallers>();
  const sleepers = createSealSleepers();

  const stop = announcements.hear(SEAL_PUBLISHED, (logId, batch) => {
    const receiptOf = batch ? receiptsOnDemand(batch as SealedBatch) : undefined;
    batches.heard(logId, receiptOf);
    for (const [each, callers] of waiting) if (logId === undefined || logId === each) callers.sealed(receiptOf);
    sleepers.wake(logId);
  });

  const callersOf = (log: LogRef): WaitingCallers =>
    waiting.get(log.logId) ?? addLog(waiting, log, { kept, logger, wanted, lookAfterMs });

  /** Waits for an entry that a published seal may cover already. */
  function lookAndWait(log: LogRef, entryId: string, withinMs: number): Promise<Uint8Array | undefined> {
    const known = kept.find(log, entryId);
    return known ? Promise.resolve(known) : callersOf(log).lookAndWait(entryId, withinMs);
  }

  /** Waits for an entry that no announced seal covers. */
  function waitForSeal(log: LogRef, entryId: string, withinMs: number): Promise<Uint8Array | undefined> {
    const known = kept.find(log, entryId);
    if (known) return Promise.resolve(known);
    wanted(log);
    return callersOf(log).waitForSeal(entryId, withinMs);
  }

  return {
    receipt: lookAndWait,
    follow(log) {
      const heardOf = batches.follow(log);
      return {
        receipt(entryId, withinMs) {
          const heard = heardOf(entryId);
          if (heard === 'unsealed') return waitForSeal(log, entryId, withinMs);
          if (heard !== 'unknown' && kept.keep(log, entryId, heard)) return Promise.resolve(heard);
          // Otherwise only the database knows: of a batch that was not heard, or of a seal after a revoked key's.
          return lookAndWait(log, entryId, withinMs);
        },
      };
    },
    nextSeal(logs, withinMs) {
      for (const log of logs) wanted(log);
      return sleepers.sleep(logs, Math.min(withinMs, lookAfterMs));
    },
    async read(log, entryId) {
      return kept.find(log, entryId) ?? (await kept.read(log, [entryId])).get(entryId);
    },
    close() {
      stop();
      for (const callers of waiting.values()) callers.close();
    },
  };
}

/** Adds a log for which nobody waits yet. It is forgotten when the last caller has left. */
function addLog(
  waiting: Map<string, WaitingCallers>,
  log: LogRef,
  parts: Omit<Parameters<typeof createWaitingCallers>[1], 'left'>,
): WaitingCallers {
  const left = (): void => {
    if (waiting.get(log.logId) === callers) waiting.delete(log.logId);
  };
  const callers = createWaitingCallers(log, { ...parts, left });
  waiting.set(log.logId, callers);
  return callers;
}

/** A batch is read only if somebody asks for one of its receipts. */
function receiptsOnDemand(batch: SealedBatch): ReceiptOf {
  let receiptOf: ReceiptOf | undefined;
  return (entryId) => {
    receiptOf ??= batchReceipts(batch);
    return receiptOf(entryId);
  };
}
