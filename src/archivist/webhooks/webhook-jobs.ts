import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { FORGOTTEN, type ScheduledJob, startRepeatedJob } from '../../platform/queue/scheduled-job.js';
import { type QueueDeliveriesDeps, queueDeliveries } from './queue-deliveries.js';
import { type SendDeliveriesDeps, sendDeliveries } from './send-deliveries.js';

const EVERY_MS = 2_000;

type OnQueue<Deps> = Deps & { readonly backend: QueueBackend };

/** Creates the deliveries about confirmed events every two seconds, even if receivers take long to answer. */
export function startWebhookQueueing(deps: OnQueue<QueueDeliveriesDeps>): Promise<ScheduledJob> {
  return startRepeatedJob(deps.backend, {
    queue: 'webhook-events',
    id: 'sweep',
    repeat: { every: EVERY_MS },
    options: FORGOTTEN,
    run: (stopping) => queueDeliveries(deps, stopping),
    failed: (error) => deps.logger.warn({ err: error }, 'webhook deliveries could not be created; this is retried'),
  });
}

/** Sends deliveries that are due, every two seconds. What is due is in rows, so a lost job is harmless. */
export function startWebhookSending(deps: OnQueue<SendDeliveriesDeps>): Promise<ScheduledJob> {
  return startRepeatedJob(deps.backend, {
    queue: 'webhooks',
    id: 'sweep',
    repeat: { every: EVERY_MS },
    options: FORGOTTEN,
    run: (stopping) => sendDeliveries(deps, stopping),
    failed: (error) => deps.logger.warn({ err: error }, 'webhooks could not be sent; they are retried'),
  });
}
