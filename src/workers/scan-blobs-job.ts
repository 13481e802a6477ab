import { type ScanDeps, scanBlobs } from '../archivist/blobs/scan-blobs.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import { type ScheduledJob, startScheduledJob } from './scheduled-job.js';

/** A scanner that is away for a while is waited for; the next day's run takes over in the end. */
const RETRY = { attempts: 6, delayMs: 600_000 };

/**
 * Scans blobs by a schedule, a cron pattern in UTC; closing ends it at the next blob.
 * @throws for a pattern that is none
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
