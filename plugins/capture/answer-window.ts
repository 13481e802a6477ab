import { within } from './time-limit.js';

/**
 * How long the caller of a capture waits for its answer. A capture becomes final only while there is time to say so: a
 * caller that was refused must not find an event later.
 */
export interface AnswerWindow {
  /** Whether a capture may still become final. */
  isOpen(): boolean;
  /** Whether the caller was told that nothing is kept. */
  isRefused(): boolean;
}

/** Of a caller that tries again until the operation is kept, and is never refused. */
export const NO_HURRY: AnswerWindow = { isOpen: () => true, isRefused: () => false };

/** Milliseconds from the last byte of a request. */
export interface AnswerLimits {
  /** Until when a capture may become final. */
  readonly finalMs: number;
  /** Until when the caller has an answer. */
  readonly answerMs: number;
}

/**
 * The result of work in its window. When this rejects, the caller is refused, and the work knows it.
 * @param what the message of the refusal when time runs out
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
