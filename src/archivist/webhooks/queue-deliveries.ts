import { applicationPrincipal } from '../../iam/applications/application-principal.js';
import { findApplication } from '../../iam/applications/application-store.js';
import type { Clock } from '../../platform/clock.js';
import type { Ids } from '../../platform/ids.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/postgres/database.js';
import type { Deployment } from '../deployment.js';
import { type EventPage, readEventPage } from '../live/read-event-page.js';
import type { Webhook } from './webhook.js';
import { insertDeliveries } from './webhook-delivery-store.js';
import { typesOf } from './webhook-message.js';
import { advanceWebhook, webhooksBehind } from './webhook-store.js';

/** Webhooks of one turn. */
const AT_ONCE = 1_000;
/** Pages for one webhook before the others have their turn. */
const MOST_PAGES = 5;

export interface QueueDeliveriesDeps {
  readonly database: Database;
  readonly deployment: Deployment;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly publicUrl: string;
  readonly logger: Logger;
}

/**
 * Makes a delivery of each event that was confirmed since the last run and that a webhook's application may read, in the
 * order of the log. The deliveries of a page and the position that they reach are one transaction: after a crash each
 * is made once. Webhooks take turns, and one that fails leaves the others as they are. Ends when nothing is left to do.
 */
export async function queueDeliveries(deps: QueueDeliveriesDeps, stopping: () => boolean): Promise<void> {
  while (await queueInTurn(deps, stopping)) if (stopping()) return;
}

/** Makes deliveries of some pages for each webhook. Returns whether some may be left. */
async function queueInTurn(deps: QueueDeliveriesDeps, stopping: () => boolean): Promise<boolean> {
  const behind = await deps.database.inTransaction('system', (tx) => webhooksBehind(tx, AT_ONCE));
  let isLeft = false;
  for (const webhook of behind) {
    try {
      let cursor: bigint | undefined = webhook.cursor;
      for (let pages = 0; pages < MOST_PAGES && cursor !== undefined && !stopping(); pages += 1)
        cursor = await queuePage(deps, { ...webhook, cursor });
      isLeft ||= cursor !== undefined;
    } catch (error) {
      deps.logger.warn(
        { err: error, webhook: webhook.webhookId },
        'deliveries of a webhook could not be created; this is retried',
      );
    }
  }
  return isLeft;
}

/** The position that was reached, if there is more after it. */
async function queuePage(deps: QueueDeliveriesDeps, webhook: Webhook): Promise<bigint | undefined> {
  const { tenantId, webhookId } = webhook;
  const { events, last, more } = await pageFor(deps, webhook, webhook.cursor);
  if (last === webhook.cursor) return undefined;
  const deliveries = events.flatMap((event) =>
    typesOf(event)
      .filter((type) => webhook.eventTypes.includes(type))
      .map((eventType) => ({
        tenantId,
        webhookId,
        deliveryId: deps.ids.uuid(),
        position: event.position,
        eventType,
        createdAt: new Date(deps.clock.now()),
      })),
  );
  const moved = await deps.database.inTransaction('system', async (tx) => {
    if (!(await advanceWebhook(tx, webhook, last))) return false;
    await insertDeliveries(tx, deliveries);
    return true;
  });
  return more && moved ? last : undefined;
}

/** Events after a position as the webhook's application may read them now; none if the application was deleted. */
export async function pageFor(
  deps: Pick<QueueDeliveriesDeps, 'database' | 'deployment' | 'publicUrl'>,
  { tenantId, applicationId }: Webhook,
  after: bigint,
  count?: bigint,
): Promise<EventPage> {
  const application = await deps.database.inTransaction({ read: [tenantId], write: [] }, (tx) =>
    findApplication(tx, { tenantId, applicationId }),
  );
  if (!application) return { events: [], last: after, more: false };
  return readEventPage(deps, applicationPrincipal(application, deps.publicUrl), after, count);
}
