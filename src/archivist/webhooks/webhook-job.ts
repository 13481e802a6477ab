import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { FORGOTTEN, type ScheduledJob, startRepeatedJob } from '../../platform/queue/scheduled-job.js';
import { queueDeliveries } from './queue-deliveries.js';
import { type SendDeliveriesDeps, sendDeliveries } from './send-deliveries.js';

const EVERY_MS = 2_000;

/** Tells webhooks what was confirmed, every two seconds. What is due is in rows, so a lost job is harmless. */
export function startWebhookJob(deps: SendDeliveriesDeps & { readonly backend: QueueBackend }): Promise<ScheduledJob> {
  return startRepeatedJob(deps.backend, {
    queue: 'webhooks',
    id: 'sweep',
    repeat: { every: EVERY_MS },
    options: FORGOTTEN,
    async run(stopping) {
      await queueDeliveries(deps, stopping);
      await sendDeliveries(deps, stopping);
    },
    failed: (error) => deps.logger.warn({ err: error }, 'webhooks could not be sent; they are retried'),
  });
}
