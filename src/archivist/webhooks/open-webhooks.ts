import type { Clock } from '../../platform/clock.js';
import { type Feature, WORKER_ROLES } from '../../platform/feature.js';
import { createOutboundFetch } from '../../platform/http/outbound-fetch.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import type { WebhookDeps } from './manage-webhooks.js';
import type { SendDeliveriesDeps } from './send-deliveries.js';
import { startWebhookQueueing, startWebhookSending } from './webhook-jobs.js';
import { webhookRoutes } from './webhook-routes.js';
import { webhookSecrets } from './webhook-secrets.js';

type OpenedHere = 'secrets' | 'fetch' | 'setAside';

interface WebhookBase extends Omit<WebhookDeps, OpenedHere>, Omit<SendDeliveriesDeps, OpenedHere> {
  readonly keyring: Keyring;
  /** Dates what is recorded. */
  readonly rightClock: Clock;
  readonly backend: QueueBackend;
  readonly metrics: { readonly webhooksSetAside: SendDeliveriesDeps['setAside'] };
}

/** Webhooks, with the jobs that make deliveries and send them. */
export function openWebhooks(base: WebhookBase): Feature {
  const secrets = webhookSecrets(base);
  const queueing = () => startWebhookQueueing({ ...base, clock: base.rightClock });
  const sending = () =>
    startWebhookSending({
      ...base,
      clock: base.rightClock,
      fetch: createOutboundFetch({ allowPrivate: base.allowPrivate }),
      secrets,
      setAside: base.metrics.webhooksSetAside,
    });
  return {
    routes: { 'iam/v1/webhooks': webhookRoutes({ ...base, secrets }) },
    jobs: [queueing, sending].map((start) => ({ roles: WORKER_ROLES, start })),
  };
}
