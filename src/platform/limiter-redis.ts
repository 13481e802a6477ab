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
