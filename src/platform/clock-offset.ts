/** The clock and another machine's may differ by this much. */
export const MOST_OFFSET_MS = 5_000;
/** Two processes whose clocks are right differ at most by this: each from the database's clock by half of it. */
export const MOST_DIFFERENCE_MS = 2 * MOST_OFFSET_MS;

/** How far a clock that showed `beforeMs` and then `afterMs` is ahead of another one, read in between; in milliseconds. */
export function clockOffset(otherMs: number, beforeMs: number, afterMs: number): number {
  return beforeMs > otherMs ? beforeMs - otherMs : Math.min(0, afterMs - otherMs);
}
