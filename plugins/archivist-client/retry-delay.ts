import { DeliverLater } from './delivery-failure.js';

/** How long delivery waits between attempts. */
export interface RetryPace {
  readonly firstMs: number;
  readonly mostMs: number;
}

export const RETRY_PACE: RetryPace = { firstMs: 1_000, mostMs: 60_000 };
/** The longest wait that is accepted from a service. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * Milliseconds until the next attempt: exponential backoff up to a maximum. The upper half is random, so that a
 * thousand waiting jobs do not all retry at once. Never earlier than the service asked.
 * @param attempts made so far, at least 1
 * @param random in [0, 1)
 */
export function retryDelay(attempts: number, error: unknown, random: () => number, pace = RETRY_PACE): number {
  const step = Math.min(pace.mostMs, pace.firstMs * 2 ** Math.min(attempts - 1, 30));
  const jittered = step / 2 + (random() * step) / 2;
  const asked = error instanceof DeliverLater ? (error.retryAfterMs ?? 0) : 0;
  return Math.round(asked > 0 ? Math.min(asked, LONGEST_RETRY_AFTER_MS) + random() * pace.firstMs : jittered);
}
