import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { type WatchComplianceDeps, watchCompliance } from './watch-compliance.js';

const QUEUE = 'compliance';
const EVERY_MS = 5_000;
const FORGOTTEN = { removeOnComplete: true, removeOnFail: true };

/** Evaluates compliance for webhooks, every five seconds. What is due is in rows, so a lost job is harmless. */
export async function startComplianceJob(
  deps: WatchComplianceDeps & { readonly backend: QueueBackend },
): Promise<{ close(): Promise<void> }> {
  const { backend, logger } = deps;
  let stopping = false;
  const schedule = await backend.keepSchedule({
    queue: QUEUE,
    id: 'sweep',
    repeat: { every: EVERY_MS },
    options: FORGOTTEN,
  });
  const worker = backend.worker(QUEUE, () => watchCompliance(deps, () => stopping));
  worker.on('failed', (_job, error) => logger.warn({ err: error }, 'compliance could not be evaluated; it is retried'));
  return {
    async close() {
      stopping = true;
      await schedule.close();
      await worker.close();
    },
  };
}
