import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { type ScheduledJob, startScheduledJob } from '../../platform/queue/scheduled-job.js';
import { type ScanDeps, scanBlobs } from './scan-blobs.js';

/** If the scanner is down, the job retries; after that, the next day's run takes over. */
const RETRY = { attempts: 6, delayMs: 600_000 };

/**
 * Scans blobs by a schedule, a cron pattern in UTC; closing ends the run before the next blob.
 * @throws for an invalid pattern
 */
export function startScanBlobsJob(
  deps: ScanDeps & { readonly backend: QueueBackend; readonly pattern: string },
): Promise<ScheduledJob> {
  const { pattern } = deps;
  return startScheduledJob(deps, {
    name: 'blob-scan',
    pattern,
    retry: RETRY,
    run: (stopping) => scanBlobs(deps, stopping),
  });
}
