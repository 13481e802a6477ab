import { once } from 'node:events';
import { Redis } from 'ioredis';
import { REDIS_OPTIONS } from './redis-options.js';

/**
 * A connection for one loop that reads a Redis. No command waits for a Redis that is away: a client that is closed while
 * it is about to connect again settles none of those, so that a stop would wait for ever.
 */
export function openReadingRedis(url: string): Redis {
  return new Redis(url, { ...REDIS_OPTIONS, enableOfflineQueue: false, maxRetriesPerRequest: 0 });
}

/** Resolves when the connection takes commands, or at the signal. */
export async function untilReady(redis: Redis, signal: AbortSignal): Promise<void> {
  // An attempt to connect that failed ends the wait as well.
  while (redis.status !== 'ready' && !signal.aborted) await once(redis, 'ready', { signal }).catch(() => undefined);
}
