import type { PipelineDeps } from '../platform/http/mount-routes.js';
import type { Logger } from '../platform/logger.js';
import { openRateLimiter } from '../platform/rate-limiter.js';
import { createUploadQueue } from '../platform/upload-queue.js';
import type { Closers } from './open-base.js';

/** The limiter of `RATE_LIMIT`; undefined if it is not set. */
export function openLimiter(config: Config, { logger }: Base, closers: Closers): RateLimiter | undefined {
  const { rateLimit, redisUrl } = config;
  if (rateLimit === undefined) return undefined;
  const limiter = openRateLimiter({ requestsPerSecond: rateLimit, redisUrl, logger });
  closers.push(async () => limiter.close());
  return limiter;
}
