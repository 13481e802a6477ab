import type { Clock } from '../../src/platform/clock.js';

/** When an operation was captured, and its position among all captures. */
export interface Observation {
  /** Unix time in milliseconds. */
  readonly atMs: number;
  /** The clock was wrong: the time is for comparisons within the plugin only, and no event declares it. */
  readonly clockWrong?: true;
  /** The time is not known even for comparisons: the id is later than what its clock shows. */
  readonly timeUnknown?: true;
  /** Sorts as text in the order of capture: a Redis stream id with leading zeros. */
  readonly sequence: string;
  /** How far the clock that gave the time is ahead of this process's, in milliseconds; undefined if it is this process's. */
  readonly aheadMs?: number;
}

/** How the end of an operation was observed. */
export type CaptureMethod = 'receiver' | 'link' | 'tracer' | 'tap' | 'storages' | 'operator';

const MS_DIGITS = 14;
const COUNT_DIGITS = 8;

/** The sequence of a Redis stream entry, `<milliseconds>-<count>`. */
export function streamSequence(atMs: number, count: number): string {
  return `${String(atMs).padStart(MS_DIGITS, '0')}-${String(count).padStart(COUNT_DIGITS, '0')}`;
}

/** The time of an observation's sequence by the clock of this process, in Unix milliseconds. */
export function hereMs({ sequence, aheadMs = 0 }: Observation): number {
  return Number.parseInt(sequence, 10) - aheadMs;
}

/**
 * Creates observations of this process, each later than the one before, even if the clock stands still or steps back.
 * The sequence does not follow a clock that is known to be wrong.
 */
export function createCaptureSequence(clock: Clock, isWrong: () => boolean = () => false): () => Observation {
  let lastMs = 0;
  let count = 0;
  return () => {
    const atMs = clock.now();
    // After the clock: the time of a clock that was set in between is right.
    const clockWrong = isWrong();
    count = !clockWrong && atMs > lastMs ? 0 : count + 1;
    if (!clockWrong) lastMs = Math.max(lastMs, atMs);
    return { atMs, sequence: streamSequence(lastMs, count), ...(clockWrong && { clockWrong }) };
  };
}
