import { Redis } from 'ioredis';
import type { Logger } from './logger.js';

/** A Redis that is slower than this is one that does not answer: the request waits for it. */
const COMMAND_TIMEOUT_MS = 250;

/** A connection for limiters, which count by themselves while it does not answer. */
export function connectLimiterRedis(url: string, logger: Logger): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: 1,
    commandTimeout: COMMAND_TIMEOUT_MS,
    enableOfflineQueue: false,
  });
  redis.on('error', (error) => logger.warn({ err: error }, 'the Redis of the rate limit does not answer'));
  return redis;
}
