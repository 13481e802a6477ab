import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { TimeLimitError } from '../../src/platform/time-limit.js';
import { type AnswerWindow, NO_HURRY, requireOpen } from './answer-window.js';
import type { CapturedOperations } from './captured-operations.js';
import { createFewAtOnce } from './few-at-once.js';
import { holdOperations } from './held-operation.js';
import { withdrawOperations } from './withdraw-operations.js';

/** Captures that use the queue at once. Also one that takes 100 ms alone ends in time beside seven others. */
const MOST_AT_ONCE = 8;
/** The caller of a capture that takes longer has been refused. */
const PLACE_MS = 2_000;

interface KeepParts {
  readonly backend: QueueBackend;
  readonly withdrawn: Set<string>;
  readonly logger: Logger;
  /** A capture that takes longer no longer keeps others waiting; two seconds unless told. */
  readonly placeMs?: number;
}

/**
 * Holds the operations of a capture in the queue until they are durable, then releases the first. If it rejects within a
 * window, it has withdrawn them.
 * @throws {TimeLimitError} when the window closes first
 * @throws when the queue cannot guarantee that they are stored
 */
type KeepOperations = (operations: CapturedOperations, window: AnswerWindow) => Promise<void>;

/** Keeps operations in a queue, those of a few captures at a time. */
export function createKeepOperations({ backend, withdrawn, logger, placeMs = PLACE_MS }: KeepParts): KeepOperations {
  const inTurn = createFewAtOnce(MOST_AT_ONCE, placeMs);

  async function hold(operations: CapturedOperations, window: AnswerWindow): Promise<void> {
    await holdOperations(backend, operations);
    await backend.confirmDurable();
    requireOpen(window);
    if (!(await operations[0].release())) throw new Error('another plugin took it out of the queue');
    if (window.isRefused()) throw new TimeLimitError('the queue did not answer in time');
  }

  return async (operations, window) => {
    let begun = false;
    try {
      await inTurn(async () => {
        requireOpen(window);
        // What an earlier capture of the same operations could not remove in time belongs to this one.
        for (const { job } of operations) withdrawn.delete(job);
        begun = true;
        await hold(operations, window);
      });
    } catch (error) {
      // Not in turn: a worker that delivers one of them can make this wait for long.
      if (begun && window !== NO_HURRY) await withdrawOperations({ withdrawn, logger }, operations);
      throw error;
    }
  };
}
