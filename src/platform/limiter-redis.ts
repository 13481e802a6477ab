import { Redis } from 'ioredis';
import type { Logger } from './logger.js';
import { REDIS_OPTIONS } from './queue/redis-options.js';

/** If Redis takes longer than this, it counts as not answering: requests wait for it. */
const COMMAND_TIMEOUT_MS = 250;

/** A connection for limiters; they count per process while Redis does not answer. */
export function connectLimiterRedis(url: string, logger: Logger): Redis {
  const redis = new Redis(url, {
    ...REDIS_OPTIONS,
    maxRetriesPerRequest: 1,
    commandTimeout: COMMAND_TIMEOUT_MS,
    enableOfflineQueue: false,
  });
  redis.on('error', (error) =>
    logger.warn({ err: error }, 'Redis does not answer; each process now applies the rate limit by itself'),
  );
  return redis;
}

/**
 * Counts as the script of rate-limiter-flexible does, and shortens a window that would end later than the longest one can.
 * Redis ends windows by its own clock: when that is set back by an hour, the windows of that moment last an hour longer,
 * and who fills one would be refused for as long.
 */
export function countingScript(longestSeconds: number): string {
  return `redis.call('set', KEYS[1], 0, 'EX', ARGV[2], 'NX')
    local consumed = redis.call('incrby', KEYS[1], ARGV[1])
    local ttl = redis.call('pttl', KEYS[1])
    if ttl == -1 or ttl > ${longestSeconds * 1000} then
      redis.call('expire', KEYS[1], ARGV[2])
      ttl = 1000 * ARGV[2]
    end
    return {consumed, ttl}`;
}
