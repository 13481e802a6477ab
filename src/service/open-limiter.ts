import type { Closers } from '../platform/close-all.js';
import type { PipelineDeps } from '../platform/http/mount-routes.js';
import type { Logger } from '../platform/logger.js';
import { openRateLimiter } from '../platform/rate-limiter.js';
import { createUploadQueue } from '../platform/upload-queue.js';

/** The limiter of `RATE_LIMIT`; nothing is limited if it is not set. */
export function openLimiter(
  { rateLimit }: { readonly rateLimit: number | undefined },
  { redisUrl, logger }: { readonly redisUrl: string | undefined; readonly logger: Logger },
  closers: Closers,
): Pick<PipelineDeps, 'admit' | 'admitUpload'> {
  if (rateLimit === undefined) return {};
  const limiter = openRateLimiter({ requestsPerSecond: rateLimit, redisUrl, logger });
  closers.push(async () => limiter.close());
  const uploads = createUploadQueue();
  return {
    admit: ({ tenantId }, requests) => limiter.admit(tenantId, requests),
    admitUpload: ({ tenantId }, gone) => uploads.admit(tenantId, () => limiter.admit(tenantId), gone),
  };
}
