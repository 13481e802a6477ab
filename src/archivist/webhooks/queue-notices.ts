import type { Ids } from '../../platform/ids.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Notice, WebhookEventType } from './webhook.js';
import { insertDeliveries } from './webhook-delivery-store.js';
import { webhooksTelling } from './webhook-store.js';

/**
 * Makes deliveries of notices to each webhook of the tenancy that tells this type. They belong to the transaction of the
 * changes that they are about, so each change is told once.
 */
export async function queueNotices(
  tx: Tx,
  ids: Ids,
  notices: {
    readonly tenantId: string;
    readonly eventType: WebhookEventType;
    readonly about: readonly Notice[];
    readonly createdAt: Date;
  },
): Promise<void> {
  const { about, ...shared } = notices;
  if (about.length === 0) return;
  const webhooks = await webhooksTelling(tx, shared.tenantId, shared.eventType);
  await insertDeliveries(
    tx,
    about.flatMap((each) =>
      webhooks.map(({ webhookId }) => ({ ...shared, about: each, webhookId, deliveryId: ids.uuid() })),
    ),
  );
}
