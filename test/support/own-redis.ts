import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { redisUrl } from './prerequisites.js';

const DATABASES = 16;
const PARTS = ['service', 'plugin'] as const;

/**
 * The URL of a numbered database of TEST_REDIS_URL that no other worker of vitest uses, counted from the one that it
 * names: services that share a queue do each other's jobs.
 */
export function ownRedisUrl(part: (typeof PARTS)[number]): string {
  const url = new URL(redisUrl!);
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 1) * PARTS.length;
  url.pathname = `/${(Number(url.pathname.slice(1)) + worker + PARTS.indexOf(part)) % DATABASES}`;
  return url.href;
}

/** The same, emptied of what earlier tests of this worker left. */
export async function emptyRedis(part: (typeof PARTS)[number] = 'plugin'): Promise<string> {
  const url = ownRedisUrl(part);
  const redis = new Redis(url);
  await redis.flushdb();
  redis.disconnect();
  return url;
}

/** The test file whose services use the queue of this worker. */
let queue: { readonly testPath: string | undefined; readonly url: Promise<string> } | undefined;

/**
 * The URL for the services of a test file, emptied before the first of them starts: they would do the jobs that the
 * services of an earlier file left, and an audit, for one, makes entries in the logs.
 */
export function serviceRedisUrl(): Promise<string> {
  const { testPath } = expect.getState();
  if (queue?.testPath !== testPath) queue = { testPath, url: emptyRedis('service') };
  return queue!.url;
}
