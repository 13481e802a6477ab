import type { Logger } from '../../platform/logger.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { type ScheduledJob, startScheduledJob } from '../../platform/queue/scheduled-job.js';
import { type PurgeDeps, purgeIdempotency } from './purge-idempotency.js';

const ONCE_AN_HOUR = '41 * * * *';

/** Deletes old idempotency keys once an hour. */
export function startPurgeIdempotencyJob(
  deps: PurgeDeps & { readonly backend: QueueBackend; readonly logger: Logger },
  pattern = ONCE_AN_HOUR,
): Promise<ScheduledJob> {
  return startScheduledJob(deps, {
    name: 'idempotency-purge',
    pattern,
    run: async (stopping) => ({ forgotten: await purgeIdempotency(deps, stopping) }),
  });
}
