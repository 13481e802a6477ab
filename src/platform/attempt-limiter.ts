import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { connectLimiterRedis, countingScript } from './limiter-redis.js';
import type { Logger } from './logger.js';

interface Counted {
  /** Milliseconds until the key's window ends if it was full before these attempts, else undefined. */
  readonly shutFor: number | undefined;
  /** Whether these attempts filled it. */
  readonly fills: boolean;
}

/** Counts attempts per key, in windows that begin with the first attempt. */
export interface AttemptLimiter {
  /** Milliseconds until the key's window ends if the window is full, else undefined. */
  shutFor(key: string): Promise<number | undefined>;
  /**
   * Counts attempts, by default one, and says in the same step how full the window was: of attempts at the same time,
   * no more than fit find room. Zero attempts only look, in order with those that count; a negative number gives back.
   */
  count(key: string, attempts?: number): Promise<Counted>;
  close(): void;
}

/**
 * Allows a fixed number of attempts in a window. Redis counts for all processes together; without Redis, or while it
 * does not answer, each process counts its own.
 */
export function openAttemptLimiter(options: {
  /** Separates limiters that share one Redis. */
  readonly name: string;
  readonly attempts: number;
  readonly seconds: number;
  readonly redisUrl: string | undefined;
  readonly logger: Logger;
}): AttemptLimiter {
  const { name, attempts, seconds, redisUrl, logger } = options;
  const rule = { keyPrefix: `vcon-archivist-${name}`, points: attempts, duration: seconds };
  const ownCount = new RateLimiterMemory(rule);
  const redis = redisUrl === undefined ? undefined : connectLimiterRedis(redisUrl, logger);
  const limiter = redis
    ? new RateLimiterRedis({
        ...rule,
        storeClient: redis,
        rejectIfRedisNotReady: true,
        insuranceLimiter: ownCount,
        customIncrTtlLuaScript: countingScript(seconds),
      })
    : ownCount;

  async function count(key: string, made = 1): Promise<Counted> {
    const counted = await limiter.consume(key, made).catch((refused: unknown) => {
      if (refused instanceof RateLimiterRes) return refused;
      throw refused;
    });
    const before = counted.consumedPoints - made;
    return {
      shutFor: before >= attempts ? counted.msBeforeNext : undefined,
      fills: before < attempts && counted.consumedPoints >= attempts,
    };
  }

  return {
    shutFor: async (key) => (await count(key, 0)).shutFor,
    count,
    close: () => redis?.disconnect(),
  };
}
