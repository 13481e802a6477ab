import type { Logger } from '../../platform/logger.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { FORGOTTEN, type ScheduledJob, startRepeatedJob } from '../../platform/queue/scheduled-job.js';
import { type PolicyAuditDeps, recordPolicyAudit } from './record-policy-audit.js';

const QUEUE = 'access-policy-audit';
/** Only for audits whose wake-up was lost. */
const SWEEP_MS = 30_000;

/**
 * Wakes the job that records the audit events of access policies. Never fails and never waits: the sweep finds the rows
 * without it.
 */
export function policyAuditWaker({ backend, logger }: { backend: QueueBackend; logger: Logger }): () => void {
  return () => {
    backend
      .queue(QUEUE)
      .add('policy changed', {}, { deduplication: { id: 'wake', keepLastIfActive: true }, ...FORGOTTEN })
      .catch((error: unknown) =>
        logger.warn({ err: error }, 'the queue accepts no jobs: the next sweep does this work'),
      );
  };
}

/** Records the audit events of access policies: when woken, and at intervals. */
export function startPolicyAuditJob(
  deps: PolicyAuditDeps & { readonly backend: QueueBackend; readonly logger: Logger },
): Promise<ScheduledJob> {
  return startRepeatedJob(deps.backend, {
    queue: QUEUE,
    id: 'sweep',
    repeat: { every: SWEEP_MS },
    options: FORGOTTEN,
    run: (stopping) => recordPolicyAudit(deps, stopping),
    failed: (error) =>
      deps.logger.warn({ err: error }, 'audit events of access policies could not be recorded; they are retried'),
  });
}
