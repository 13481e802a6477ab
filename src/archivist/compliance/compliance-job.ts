import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { FORGOTTEN, type ScheduledJob, startRepeatedJob } from '../../platform/queue/scheduled-job.js';
import { type WatchComplianceDeps, watchCompliance } from './watch-compliance.js';

const EVERY_MS = 5_000;

/** Evaluates compliance for webhooks, every five seconds. What is due is in rows, so a lost job is harmless. */
export function startComplianceJob(
  deps: WatchComplianceDeps & { readonly backend: QueueBackend },
): Promise<ScheduledJob> {
  return startRepeatedJob(deps.backend, {
    queue: 'compliance',
    id: 'sweep',
    repeat: { every: EVERY_MS },
    options: FORGOTTEN,
    run: (stopping) => watchCompliance(deps, stopping),
    failed: (error) => deps.logger.warn({ err: error }, 'compliance could not be evaluated; it is retried'),
  });
}
