import type { Logger } from '../../platform/logger.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { type ScheduledJob, startScheduledJob } from '../../platform/queue/scheduled-job.js';
import { type SweepDeps, sweepUploads } from './sweep-uploads.js';

const ONCE_AN_HOUR = '17 * * * *';

/** Once an hour, removes the remains of uploads that never became blobs. */
export function startSweepUploadsJob(
  deps: SweepDeps & { readonly backend: QueueBackend; readonly logger: Logger },
): Promise<ScheduledJob> {
  return startScheduledJob(deps, {
    name: 'upload-sweep',
    pattern: ONCE_AN_HOUR,
    run: async (stopping) => ({ swept: await sweepUploads(deps, stopping) }),
  });
}
