import type { Clock } from '../../src/platform/clock.js';

/** When an operation was captured, and where among all that were. */
export interface Observation {
  /** Unix time in milliseconds. */
  readonly atMs: number;
  /** Sorts as text in the order of capture: the form of a Redis stream's ids, with all its zeros. */
  readonly sequence: string;
}

/** Who saw that an operation had ended. */
export type CaptureMethod = 'receiver' | 'link' | 'tracer' | 'tap' | 'storages' | 'operator';

const MS_DIGITS = 14;
const COUNT_DIGITS = 8;

/** The sequence of the entry of a Redis stream, `<milliseconds>-<count>`. */
export function streamSequence(atMs: number, count: number): string {
  return `${String(atMs).padStart(MS_DIGITS, '0')}-${String(count).padStart(COUNT_DIGITS, '0')}`;
}

/** Observations of this process, each above the one before, even where the clock stands still or steps back. */
export function createCaptureSequence(clock: Clock): () => Observation {
  let lastMs = 0;
  let count = 0;
  return () => {
    const atMs = clock.now();
    count = atMs > lastMs ? 0 : count + 1;
    lastMs = Math.max(lastMs, atMs);
    return { atMs, sequence: streamSequence(lastMs, count) };
  };
}
