import type { Redis } from 'ioredis';
import type { Clock } from '../../src/platform/clock.js';
import { clockOffset, MOST_OFFSET_MS } from '../../src/platform/clock-offset.js';

/** What the clock of a Redis shows. */
export interface RedisClock {
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** How far it is ahead of this process's: at most this much, and less only by the time that the answer took. */
  readonly aheadMs: number;
  /** It is ahead by this much at least. */
  readonly aheadAtLeastMs: number;
  /** It differs from this process's by more than is tolerated. */
  readonly differs: boolean;
}

/** Asks a Redis for its time. @throws when it does not answer */
export async function readRedisClock(redis: Redis, clock: Clock): Promise<RedisClock> {
  const beforeMs = clock.now();
  const [seconds, microseconds] = (await redis.time()).map(Number) as [number, number];
  const afterMs = clock.now();
  const nowMs = seconds * 1_000 + Math.floor(microseconds / 1_000);
  const differs = Math.abs(clockOffset(nowMs, beforeMs, afterMs)) > MOST_OFFSET_MS;
  return { nowMs, aheadMs: nowMs - beforeMs, aheadAtLeastMs: nowMs - afterMs - 1, differs };
}

const COMPARED = 120;

/**
 * Tells how far that clock is ahead, by the last rounds in which it was read: the least is nearest to the truth, because a
 * slow answer makes it seem farther ahead. A reading that contradicts this says that a clock was set since.
 */
export function leastAhead(): (read: Pick<RedisClock, 'aheadMs' | 'aheadAtLeastMs'>) => number {
  let recent: readonly number[] = [];
  return ({ aheadMs, aheadAtLeastMs }) => {
    const kept = recent.filter((each) => each >= aheadAtLeastMs);
    recent = [...kept, aheadMs].slice(-COMPARED);
    return Math.min(...recent);
  };
}

/** Whether an id of a stream has a later time than its Redis shows: that clock was ahead before, and ids never go back. */
export function isAhead(idMs: number, { nowMs }: Pick<RedisClock, 'nowMs'>): boolean {
  return idMs > nowMs + MOST_OFFSET_MS;
}
