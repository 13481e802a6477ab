import { TimeLimitError, within } from '../../src/platform/time-limit.js';

/**
 * How long the caller of a capture waits for its response. A capture becomes final only while there is time to say so:
 * a caller that was refused must not find an event later.
 */
export interface AnswerWindow {
  /** Whether a capture may still become final. */
  isOpen(): boolean;
  /** Whether the caller was told that nothing was stored. */
  isRefused(): boolean;
}

/** For a caller that retries until the operation is stored, and is never refused. */
export const NO_HURRY: AnswerWindow = { isOpen: () => true, isRefused: () => false };

/** @throws {TimeLimitError} when a capture may no longer become final */
export function requireOpen(window: AnswerWindow): void {
  if (!window.isOpen()) throw new TimeLimitError('the queue did not keep it in time');
}

/** Milliseconds from the last byte of a request. */
export interface AnswerLimits {
  /** A capture may become final until then. */
  readonly finalMs: number;
  /** The caller has its response by then. */
  readonly answerMs: number;
}

/**
 * Runs work within its window. If this rejects, the caller is refused, and the work can see that.
 * @param what the message of the error on timeout
 * @throws {TimeLimitError}
 */
export async function answerWithin<Value>(
  limits: AnswerLimits,
  work: (window: AnswerWindow) => Promise<Value>,
  what: string,
): Promise<Value> {
  let [open, refused] = [true, false];
  const close = setTimeout(() => {
    open = false;
  }, limits.finalMs);
  try {
    return await within(limits.answerMs, work({ isOpen: () => open, isRefused: () => refused }), what);
  } catch (error) {
    [open, refused] = [false, true];
    throw error;
  } finally {
    clearTimeout(close);
  }
}
