import { inPieces } from '../platform/in-pieces.js';
import type { Logger } from '../platform/logger.js';
import type { KeptReceipts } from './kept-receipts.js';
import type { LogRef } from './log.js';
import { repeatLook } from './repeated-look.js';
import type { ReceiptOf } from './sealed-batch.js';

/** All callers that wait for receipts of one log. */
export interface WaitingCallers {
  /** Waits for an entry that a published seal may cover already. Resolves with undefined if the time ends first. */
  lookAndWait(entryId: string, withinMs: number): Promise<Uint8Array | undefined>;
  /**
   * Waits for an entry that no published seal covers yet. The ledger knows that somebody waits for it. Resolves with
   * undefined if the time ends first.
   */
  waitForSeal(entryId: string, withinMs: number): Promise<Uint8Array | undefined>;
  /**
   * Settles the callers whose entries the log's new seal covers.
   * @param receiptOf undefined: the receipts have to be read
   */
  sealed(receiptOf: ReceiptOf | undefined): void;
  /** Cancels the next look. */
  close(): void;
}

interface WaitingCallersDeps {
  readonly kept: KeptReceipts;
  readonly logger: Logger;
  /** Called when an entry that somebody waits for turns out not to be sealed yet. Must not throw. */
  readonly wanted: (log: LogRef) => void;
  /** An announcement can be lost: without one, the receipts are read after this time. */
  readonly lookAfterMs: number;
  /** Called when nobody waits any more. */
  readonly left: () => void;
}

interface Caller {
  readonly entryId: string;
  /** The ledger knows that somebody waits for the entry. */
  isWanted: boolean;
  settle(receipt: Uint8Array | undefined): void;
}

/** Returns the callers of a log for which nobody waits yet. */
export function createWaitingCallers(log: LogRef, deps: WaitingCallersDeps): WaitingCallers {
  const callers = new Set<Caller>();
  const warn = (err: unknown, message: string): void => deps.logger.warn({ err, logId: log.logId }, message);
  const looks = repeatLook({
    look: () => readTogether(log, callers, deps),
    isAwaited: () => callers.size > 0,
    pauseMs: deps.lookAfterMs,
    failed: (error) => warn(error, 'waiting receipts could not be read; this is retried'),
    ended: deps.left,
  });

  /**
   * Who waits for another entry waits for a later seal, which is announced as well. A bulk registration waits for a
   * thousand receipts, so other requests are served in between.
   */
  async function settleFrom(receiptOf: ReceiptOf): Promise<void> {
    try {
      await inPieces([...callers], (caller) => {
        if (!callers.has(caller)) return;
        const receipt = deps.kept.findOrMake(log, caller.entryId, receiptOf);
        if (receipt) caller.settle(receipt);
      });
    } catch (error) {
      warn(error, 'receipts could not be made from their batch');
      looks.look();
    }
    looks.rest();
  }

  return {
    lookAndWait(entryId, withinMs) {
      const receipt = addCaller(callers, { entryId, isWanted: false, withinMs }, looks.rest);
      looks.look();
      return receipt;
    },
    waitForSeal(entryId, withinMs) {
      const receipt = addCaller(callers, { entryId, isWanted: true, withinMs }, looks.rest);
      if (!looks.isLooking && callers.size === 1) looks.rest();
      return receipt;
    },
    sealed(receiptOf) {
      if (receiptOf) void settleFrom(receiptOf);
      else looks.look();
    },
    close: looks.close,
  };
}

/** Reads the receipts of all callers in one transaction. */
async function readTogether(
  log: LogRef,
  callers: ReadonlySet<Caller>,
  { kept, wanted }: Pick<WaitingCallersDeps, 'kept' | 'wanted'>,
): Promise<void> {
  const asked = [...callers];
  const found = await kept.read(log, [...new Set(asked.map(({ entryId }) => entryId))]);
  for (const caller of asked) {
    const receipt = found.get(caller.entryId);
    if (receipt) caller.settle(receipt);
  }
  const unsealed = asked.filter(({ entryId, isWanted }) => !isWanted && !found.has(entryId));
  if (unsealed.length > 0) wanted(log);
  for (const caller of unsealed) caller.isWanted = true;
}

/** @param lastHasLeft called if a caller's time ends and nobody else waits */
function addCaller(
  callers: Set<Caller>,
  { entryId, isWanted, withinMs }: Omit<Caller, 'settle'> & { readonly withinMs: number },
  lastHasLeft: () => void,
): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    const caller: Caller = {
      entryId,
      isWanted,
      settle(receipt) {
        clearTimeout(late);
        callers.delete(caller);
        resolve(receipt);
      },
    };
    const late = setTimeout(() => {
      caller.settle(undefined);
      if (callers.size === 0) lastHasLeft();
    }, withinMs);
    callers.add(caller);
  });
}
