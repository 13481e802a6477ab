import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { queueDeliveries } from './queue-deliveries.js';
import { type SendDeliveriesDeps, sendDeliveries } from './send-deliveries.js';

const QUEUE = 'webhooks';
const EVERY_MS = 2_000;
const FORGOTTEN = { removeOnComplete: true, removeOnFail: true };

/** Tells webhooks what was confirmed, every two seconds. What is due is in rows, so a lost job is harmless. */
export async function startWebhookJob(
  deps: SendDeliveriesDeps & { readonly backend: QueueBackend },
): Promise<{ close(): Promise<void> }> {
  const { backend, logger } = deps;
  let stopping = false;
  const schedule = await backend.keepSchedule({
    queue: QUEUE,
    id: 'sweep',
    repeat: { every: EVERY_MS },
    options: FORGOTTEN,
  });
  const worker = backend.worker(QUEUE, async () => {
    await queueDeliveries(deps, () => stopping);
    await sendDeliveries(deps, () => stopping);
  });
  worker.on('failed', (_job, error) => logger.warn({ err: error }, 'webhooks could not be sent; they are retried'));
  return {
    async close() {
      stopping = true;
      await schedule.close();
      await worker.close();
    },
  };
}
