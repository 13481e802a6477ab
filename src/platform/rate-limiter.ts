import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { retryLater } from './errors.js';
import { connectLimiterRedis, countingScript } from './limiter-redis.js';
import type { Logger } from './logger.js';

/** No request counts as more than this: it is the most events of a bulk request. */
const MOST_AT_ONCE = 1_000;

/** Counts the requests of each tenancy, or of each network address. */
interface RateLimiter {
  /**
   * Counts this many requests, by default one. Many are allowed as soon as one more is: if they are more than what is left of
   * the second, the tenancy waits until it has kept its limit on average. Otherwise a steady reader of a tenancy would
   * keep its bulk requests out for ever.
   * @returns headers that tell how much is left (draft-ietf-httpapi-ratelimit-headers)
   * @throws {ApiError} rate_limited with the time until the next request is allowed
   */
  admit(tenantId: string, requests?: number): Promise<Readonly<Record<string, string>>>;
  close(): void;
}

/**
 * Allows a fixed number of requests per second for each tenancy. Redis counts for all processes together; without
 * Redis, or while it does not answer, each process counts its own: a limiter that is down must not stop the service.
 */
export function openRateLimiter(options: {
  readonly requestsPerSecond: number;
  readonly redisUrl: string | undefined;
  readonly logger: Logger;
  /** Whose requests are counted; by default a tenancy's. */
  readonly of?: 'tenancy' | 'address';
}): RateLimiter {
  const { requestsPerSecond, redisUrl, logger, of = 'tenancy' } = options;
  const rule = {
    keyPrefix: of === 'tenancy' ? 'vcon-archivist-rate' : `vcon-archivist-rate-${of}`,
    points: requestsPerSecond,
    duration: 1,
  };
  const ownCount = new RateLimiterMemory(rule);
  const redis = redisUrl === undefined ? undefined : connectLimiterRedis(redisUrl, logger);
  const limiter = redis
    ? new RateLimiterRedis({
        ...rule,
        storeClient: redis,
        rejectIfRedisNotReady: true,
        insuranceLimiter: ownCount,
        // A tenancy over its limit is refused without another request to Redis.
        inMemoryBlockOnConsumed: requestsPerSecond + 1,
        // After a request that counts as many, a tenancy waits longer than a second.
        customIncrTtlLuaScript: countingScript(2 + Math.ceil(MOST_AT_ONCE / requestsPerSecond)),
      })
    : ownCount;
  return {
    async admit(tenantId, requests = 1) {
      try {
        const used = requests > 1 ? ((await limiter.get(tenantId))?.consumedPoints ?? 0) : 0;
        const atOnce = Math.max(1, Math.min(requests, requestsPerSecond - used));
        const left = await limiter.consume(tenantId, atOnce);
        if (requests > atOnce) await limiter.block(tenantId, Math.ceil((used + requests) / requestsPerSecond));
        return rateHeaders(of, requestsPerSecond, left);
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        const description = `This ${of} may send ${requestsPerSecond} requests per second.`;
        const headers = rateHeaders(of, requestsPerSecond, refused);
        throw retryLater('rate_limited', description, refused.msBeforeNext / 1000, headers);
      }
    },
    close: () => redis?.disconnect(),
  };
}

function rateHeaders(policy: string, limit: number, { remainingPoints, msBeforeNext }: RateLimiterRes) {
  return {
    'ratelimit-policy': `"${policy}";q=${limit};w=1`,
    ratelimit: `"${policy}";r=${Math.max(0, remainingPoints)};t=${Math.ceil(msBeforeNext / 1000)}`,
  };
}
