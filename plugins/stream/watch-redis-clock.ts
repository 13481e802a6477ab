import type { Redis } from 'ioredis';
import type { Clock } from '../../src/platform/clock.js';
import { leastAhead, type RedisClock, readRedisClock } from './redis-clock.js';

interface WatchingParts {
  /** The clock of this process. */
  readonly clock: Clock;
  /** Whether something contradicts it: then nothing is told by it of the Redis's clock. */
  clockIsWrong(): boolean;
  /** Tells how far the clock of the Redis is ahead of this process's: at each look, undefined when it does not say. */
  aheadMs?(ms: number | undefined): void;
}

/** Returns what looks at the clock of a Redis; undefined when it does not show its time. */
export function watchRedisClock(redis: Redis, parts: WatchingParts): () => Promise<RedisClock | undefined> {
  const least = leastAhead();
  return async () => {
    // A Redis may refuse this command: then the times of its entries are not checked, but they are still captured.
    const read = await readRedisClock(redis, parts.clock).catch(() => undefined);
    const aheadMs = read && least(read);
    parts.aheadMs?.(aheadMs);
    return read && { ...read, aheadMs: aheadMs!, differs: read.differs && !parts.clockIsWrong() };
  };
}
