import { Redis } from 'ioredis';
import { redisUrl } from './prerequisites.js';

/** The URL of an empty numbered database of TEST_REDIS_URL that no other file uses now: one for each worker of vitest. */
export async function ownRedis(): Promise<string> {
  const url = new URL(redisUrl!);
  url.pathname = `/${Number(process.env['VITEST_POOL_ID'] ?? 1) % 16}`;
  const redis = new Redis(url.href);
  await redis.flushdb();
  redis.disconnect();
  return url.href;
}
