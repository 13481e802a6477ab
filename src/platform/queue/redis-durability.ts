import type { Redis } from 'ioredis';
import type { Logger } from '../logger.js';

const WAIT_MS = 1_500;

/**
 * Finds out how a Redis keeps writes, says once what to change, and returns the check that a writer awaits.
 * - 7.2 and newer with the append-only file: WAITAOF tells when everything written before is synced.
 * - appendfsync always: it is, when the command has answered.
 * - an older one that syncs every second: it is not, for up to a second; killing Redis loses nothing, a power cut may.
 * - no append-only file: it cannot be promised, and the check rejects.
 */
export async function redisDurability(redis: Redis, logger: Logger): Promise<() => Promise<void>> {
  const setting = async (name: string): Promise<string> => ((await redis.config('GET', name)) as string[])[1] ?? '';
  const [appendOnly, sync, eviction] = await Promise.all(
    ['appendonly', 'appendfsync', 'maxmemory-policy'].map(setting),
  );
  if (eviction !== 'noeviction')
    logger.warn(`Redis: maxmemory-policy is ${eviction}; set noeviction, or jobs may be dropped.`);
  if (appendOnly !== 'yes') {
    logger.warn('Redis keeps no append-only file: captured operations are refused. Set appendonly yes.');
    return async () => {
      throw new Error('Redis keeps no append-only file');
    };
  }
  if (sync === 'always') return async () => undefined;
  if (await knowsWaitAof(redis)) {
    return async () => {
      const [local] = (await redis.call('WAITAOF', 1, 0, WAIT_MS)) as [number, number];
      if (local < 1) throw new Error('Redis did not sync its append-only file in time');
    };
  }
  logger.warn(
    'Redis syncs its append-only file once a second: a power cut may lose the operations captured within that second. Set appendfsync always, or use Redis 7.2.',
  );
  return async () => undefined;
}

async function knowsWaitAof(redis: Redis): Promise<boolean> {
  const info = (await redis.call('COMMAND', 'INFO', 'WAITAOF')) as unknown[];
  return info[0] !== null;
}
