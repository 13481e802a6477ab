import { type ScanDeps, scanBlobs } from '../archivist/blobs/scan-blobs.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';

const QUEUE = 'blob-scan';
const SCHEDULE_ID = 'daily';
/** A scanner that is away for a while is waited for; the next day's run takes over in the end. */
const RETRY = { attempts: 6, backoff: { type: 'fixed', delay: 600_000 } };
const KEPT = { removeOnComplete: { count: 10 }, removeOnFail: { count: 10 } };

/** A job that runs by schedule until it is closed. */
export interface ScheduledJob {
  /** Resolves when a run under way has ended, which it does at the next blob. */
  close(): Promise<void>;
}

/**
 * Scans blobs by a schedule: one run at a time, in whichever process takes it.
 * @param pattern a cron pattern, in UTC
 * @throws for a pattern that is none
 */
export async function startScanBlobsJob(
  deps: ScanDeps & { readonly backend: QueueBackend; readonly pattern: string },
): Promise<ScheduledJob> {
  const { backend, pattern, logger } = deps;
  const template = { name: 'scan', opts: { ...RETRY, ...KEPT } };
  await backend.queue(QUEUE).upsertJobScheduler(SCHEDULE_ID, { pattern, tz: 'UTC' }, template);
  let stopping = false;
  const worker = backend.worker(QUEUE, async () => {
    const counts = await scanBlobs(deps, () => stopping);
    logger.info(counts, 'blobs were scanned');
    return counts;
  });
  worker.on('failed', (_job, error) => logger.warn({ err: error }, 'blobs could not be scanned'));
  return {
    async close() {
      stopping = true;
      await worker.close();
    },
  };
}
