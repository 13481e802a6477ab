import type { Logger } from '../../platform/logger.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { type PolicyAuditDeps, recordPolicyAudit } from './record-policy-audit.js';

const QUEUE = 'access-policy-audit';
/** Only for audits whose wake-up was lost. */
const SWEEP_MS = 30_000;
const FORGOTTEN = { removeOnComplete: true, removeOnFail: true };

/**
 * Wakes the job that records the audit events of access policies. Never fails and never waits: the sweep finds the rows
 * without it.
 */
export function policyAuditWaker({ backend, logger }: { backend: QueueBackend; logger: Logger }): () => void {
  return () => {
    backend
      .queue(QUEUE)
      .add('policy changed', {}, { deduplication: { id: 'wake', keepLastIfActive: true }, ...FORGOTTEN })
      .catch((error: unknown) => logger.warn({ err: error }, 'the queue accepts no jobs: the sweep does the work'));
  };
}

/** Records the audit events of access policies: when woken, and at intervals. */
export async function startPolicyAuditJob(
  deps: PolicyAuditDeps & { readonly backend: QueueBackend; readonly logger: Logger },
): Promise<{ close(): Promise<void> }> {
  const { backend, logger } = deps;
  let stopping = false;
  const schedule = await backend.keepSchedule({
    queue: QUEUE,
    id: 'sweep',
    repeat: { every: SWEEP_MS },
    options: FORGOTTEN,
  });
  const worker = backend.worker(QUEUE, () => recordPolicyAudit(deps, () => stopping));
  worker.on('failed', (_job, error) =>
    logger.warn({ err: error }, 'audit events of access policies could not be recorded; they are retried'),
  );
  return {
    async close() {
      stopping = true;
      await schedule.close();
      await worker.close();
    },
  };
}
