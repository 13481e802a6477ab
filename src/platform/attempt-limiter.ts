import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { connectLimiterRedis } from './limiter-redis.js';
import type { Logger } from './logger.js';

/** Counts attempts per key, in windows that begin with the first attempt. */
export interface AttemptLimiter {
  /** Milliseconds until the key's window ends if the window is full, else undefined. */
  shutFor(key: string): Promise<number | undefined>;
  /** Counts attempts, by default one. True for the attempt that fills the window. */
  count(key: string, attempts?: number): Promise<boolean>;
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
    ? new RateLimiterRedis({ ...rule, storeClient: redis, rejectIfRedisNotReady: true, insuranceLimiter: ownCount })
    : ownCount;
  return {
    async shutFor(key) {
      const counted = await limiter.get(key);
      return counted !== null && counted.consumedPoints >= attempts ? counted.msBeforeNext : undefined;
    },
    async count(key, made = 1) {
      const counted = await limiter.consume(key, made).catch((refused: unknown) => {
        if (refused instanceof RateLimiterRes) return refused;
        throw refused;
      });
      return counted.consumedPoints === attempts;
    },
    close: () => redis?.disconnect(),
  };
}
