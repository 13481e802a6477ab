import { openAttemptLimiter } from '../platform/attempt-limiter.js';
import type { Closers } from '../platform/close-all.js';
import { retryLater } from '../platform/errors.js';
import type { DownloadBudget } from '../platform/http/download-budget.js';
import type { Logger } from '../platform/logger.js';

const WINDOW_SECONDS = 60;
const KIB = 1024;

/** The budget of `DOWNLOAD_BUDGET`: bytes of costly downloads for each caller in a minute. */
export function openDownloadBudget(
  { downloadBudget }: { readonly downloadBudget: number },
  { redisUrl, logger }: { readonly redisUrl: string | undefined; readonly logger: Logger },
  closers: Closers,
): DownloadBudget {
  const limiter = openAttemptLimiter({
    name: 'download',
    attempts: Math.ceil(downloadBudget / KIB),
    seconds: WINDOW_SECONDS,
    redisUrl,
    logger,
  });
  closers.push(async () => limiter.close());
  return {
    async begin(caller, leastCost) {
      const { shutFor } = await limiter.count(caller, Math.ceil(leastCost / KIB));
      if (shutFor === undefined) return;
      const description = `A caller may download ${downloadBudget} bytes of evidence and log files in ${WINDOW_SECONDS} seconds.`;
      throw retryLater('rate_limited', description, shutFor / 1000);
    },
    settle: async (caller, bytes) => void (await limiter.count(caller, Math.ceil(bytes / KIB))),
  };
}
