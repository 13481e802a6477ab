import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Logger } from '../../src/platform/logger.js';
import { REDIS_OPTIONS } from '../../src/platform/queue/redis-options.js';
import { COLLECTIONS, type Collection, type Memory } from './memory.js';

/** Next to the queue's keys, in the same hash slot of a cluster. */
const PREFIX = '{vcon-archivist}:plugin';
const COMMAND_TIMEOUT_MS = 1_500;
const SCANNED = 500;
const DAY_MS = 86_400_000;
const HELD_MS = 3_000;
const [HOLD_TRIES, HOLD_RETRY_MS] = [100, 10];
const FORGET_UNCHANGED = `
if redis.call('hlen', KEYS[1]) * 2 ~= #ARGV then return 0 end
for at = 1, #ARGV, 2 do
  if redis.call('hget', KEYS[1], ARGV[at]) ~= ARGV[at + 1] then return 0 end
end
return redis.call('del', KEYS[1])`;
/** Nobody lets go what has passed to another holder. */
const LET_GO = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('del', KEYS[1])";

/**
 * The plugin's memory in Redis: a hash for each name, which expires when it was not changed for its collection's number
 * of days.
 * @param prefix of its keys
 */
export function redisMemory(url: string, logger: Logger, prefix = PREFIX): Memory {
  const key = (collection: Collection, name: string): string => `${prefix}:${collection}:${name}`;
  const redis = new Redis(url, { ...REDIS_OPTIONS, maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT_MS });
  redis.on('error', (error) => logger.warn({ err: error }, 'the Redis of the plugin’s memory does not answer'));
  return {
    read: (collection, name) => redis.hgetall(key(collection, name)),
    async write(collection, name, fields) {
      const gone = Object.entries(fields).flatMap(([field, value]) => (value === null ? [field] : []));
      const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
      const changes = redis.multi();
      if (Object.keys(set).length > 0) changes.hset(key(collection, name), set as Record<string, string>);
      if (gone.length > 0) changes.hdel(key(collection, name), ...gone);
      changes.pexpire(key(collection, name), COLLECTIONS[collection] * DAY_MS);
      for (const [error] of (await changes.exec()) ?? []) if (error) throw error;
    },
    async forget(collection, name, unchanged) {
      if (unchanged) await redis.eval(FORGET_UNCHANGED, 1, key(collection, name), ...Object.entries(unchanged).flat());
      else await redis.del(key(collection, name));
    },
    async hold(collection, name) {
      const [holding, token] = [`${prefix}:held:${collection}:${name}`, randomUUID()];
      for (let tries = 0; tries < HOLD_TRIES; tries += 1) {
        if ((await redis.set(holding, token, 'PX', HELD_MS, 'NX')) === 'OK')
          return async () => {
            await redis.eval(LET_GO, 1, holding, token).catch(() => undefined);
          };
        await wait(HOLD_RETRY_MS);
      }
      logger.warn('another process captures the same vCon: its changes of consent may be seen twice');
      return async () => undefined;
    },
    async *names(collection) {
      const start = key(collection, '');
      const pattern = `${start.replace(/[*?[\]\\]/g, '\\$&')}*`;
      const seen = new Set<string>();
      for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
        const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', SCANNED);
        cursor = next;
        for (const each of keys) {
          if (seen.has(each)) continue;
          seen.add(each);
          yield each.slice(start.length);
        }
      }
    },
    close: async () => redis.disconnect(),
  };
}
