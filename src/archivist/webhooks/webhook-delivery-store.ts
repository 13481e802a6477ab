import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { changeRow, updateRows } from '../../platform/postgres/rows-by-key.js';
import type { WebhookDelivery } from './webhook.js';

type Address = Pick<WebhookDelivery, 'tenantId' | 'deliveryId'>;
export type WebhookAddress = Pick<WebhookDelivery, 'tenantId' | 'webhookId'>;

const DELIVERY = table('webhook_delivery').columns<WebhookDelivery>({
  tenantId: 'tenant_id',
  deliveryId: 'delivery_id',
  webhookId: 'webhook_id',
  position: 'position',
  about: 'about',
  eventType: 'event_type',
  status: 'status',
  attempts: 'attempts',
  nextAttemptAt: 'next_attempt_at',
  lastError: 'last_error',
  createdAt: 'created_at',
});
const KEY = ['tenantId', 'deliveryId'] as const;
/** Conditions of a list refer to the table as `d`. */
const COLUMNS = selected(DELIVERY, 'd');

/** While a delivery is sent, no other process takes it; after a crash it is taken again. */
const SENDING = '2 minutes';

/** What is new about a delivery; everything else begins empty. */
type NewDelivery = Pick<WebhookDelivery, 'tenantId' | 'deliveryId' | 'webhookId' | 'eventType' | 'createdAt'> &
  Partial<Pick<WebhookDelivery, 'position' | 'about'>>;

/** Inserts deliveries of events or notices, which are due at once; an event is delivered to each webhook once. */
export async function insertDeliveries(tx: Tx, deliveries: readonly NewDelivery[]): Promise<void> {
  const rows = deliveries.map((delivery) => ({
    position: null,
    about: null,
    ...delivery,
    status: 'PENDING' as const,
    attempts: 0,
    nextAttemptAt: delivery.createdAt,
    lastError: '',
  }));
  await insertRows(tx, DELIVERY, rows, 'ON CONFLICT DO NOTHING');
}

/**
 * Webhooks of enabled tenancies with due deliveries, in random order: one of each tenancy, then a second one of each, and so
 * on, so that the webhooks of one tenancy do not hold up the others. Reads two rows of each webhook with pending deliveries.
 */
export function webhooksWithDue(tx: Tx, now: Date, limit: number): Promise<WebhookAddress[]> {
  // The recursion goes from webhook to webhook in the index of pending deliveries.
  return tx.query<WebhookAddress>(
    `WITH RECURSIVE hook AS (
       (SELECT p.tenant_id, p.webhook_id FROM archivist.webhook_delivery p
         WHERE p.status = 'PENDING' ORDER BY p.tenant_id, p.webhook_id LIMIT 1)
       UNION ALL
       SELECT n.tenant_id, n.webhook_id FROM hook h CROSS JOIN LATERAL (
         SELECT p.tenant_id, p.webhook_id FROM archivist.webhook_delivery p
          WHERE p.status = 'PENDING' AND (p.tenant_id, p.webhook_id) > (h.tenant_id, h.webhook_id)
          ORDER BY p.tenant_id, p.webhook_id LIMIT 1) AS n)
     SELECT h.tenant_id AS "tenantId", h.webhook_id AS "webhookId" FROM hook h CROSS JOIN LATERAL (
       SELECT p.next_attempt_at FROM archivist.webhook_delivery p
        WHERE p.tenant_id = h.tenant_id AND p.webhook_id = h.webhook_id AND p.status = 'PENDING'
        ORDER BY p.next_attempt_at LIMIT 1) AS earliest
      WHERE earliest.next_attempt_at <= $1
        AND EXISTS (SELECT 1 FROM archivist.tenancy t WHERE t.tenant_id = h.tenant_id AND t.disabled_at IS NULL)
      ORDER BY row_number() OVER (PARTITION BY h.tenant_id ORDER BY random()), random() LIMIT $2`,
    [now, limit],
  );
}

/**
 * Takes deliveries of a webhook that were due at a time, those that have been due for longest first; none if its tenancy is
 * disabled. Reads what it takes.
 */
export function takeDueDeliveries(
  tx: Tx,
  { tenantId, webhookId }: WebhookAddress,
  { due, now, limit }: { readonly due: Date; readonly now: Date; readonly limit: number },
): Promise<WebhookDelivery[]> {
  return tx.query<WebhookDelivery>(
    `WITH due AS MATERIALIZED (
       SELECT p.tenant_id, p.delivery_id FROM archivist.webhook_delivery p
        WHERE p.tenant_id = $1 AND p.webhook_id = $2 AND p.status = 'PENDING' AND p.next_attempt_at <= $3
          AND EXISTS (SELECT 1 FROM archivist.tenancy t WHERE t.tenant_id = $1 AND t.disabled_at IS NULL)
        ORDER BY p.next_attempt_at, p.position, p.delivery_id LIMIT $5)
     UPDATE archivist.webhook_delivery d SET ${DELIVERY.of.nextAttemptAt} = $4::timestamptz + interval '${SENDING}'
       FROM due WHERE d.tenant_id = due.tenant_id AND d.delivery_id = due.delivery_id
        AND d.status = 'PENDING' AND d.next_attempt_at <= $3
     RETURNING ${COLUMNS}`,
    [tenantId, webhookId, due, now, limit],
  );
}

/** Records the result of an attempt, unless the delivery was replayed in the meantime. */
export async function recordAttempt(
  tx: Tx,
  delivery: WebhookDelivery,
  outcome: Pick<WebhookDelivery, 'status' | 'attempts' | 'nextAttemptAt' | 'lastError'>,
): Promise<void> {
  const { tenantId, deliveryId, nextAttemptAt } = delivery;
  const changed = ['status', 'attempts', 'nextAttemptAt', 'lastError'] as const;
  await updateRows(tx, DELIVERY, KEY, changed, { ...outcome, tenantId, deliveryId }, { nextAttemptAt });
}

/** Makes a delivery due again, with all its attempts before it. */
export function replayDelivery(
  tx: Tx,
  address: Address & Pick<WebhookDelivery, 'webhookId'>,
  now: Date,
): Promise<WebhookDelivery | undefined> {
  const key = [...KEY, 'webhookId'] as const;
  const changed = ['status', 'attempts', 'nextAttemptAt', 'lastError'] as const;
  const due = { status: 'PENDING', attempts: 0, nextAttemptAt: now, lastError: '' } as const;
  return changeRow(tx, DELIVERY, key, changed, { ...address, ...due });
}

/** Deletes deliveries that have ended and are older than this. */
export async function deleteEndedDeliveries(tx: Tx, before: Date): Promise<void> {
  await tx.execute(`DELETE FROM archivist.webhook_delivery WHERE created_at < $1 AND status <> 'PENDING'`, [before]);
}

/** Number of deliveries that were given up, in all tenancies. */
export async function countSetAside(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ count: bigint }>(
    `SELECT count(*) AS count FROM archivist.webhook_delivery WHERE status = 'SET_ASIDE'`,
  );
  return Number(row!.count);
}

/** Conditions refer to a row as `d`. */
export const webhookDeliveryRows = rowList<WebhookDelivery>({
  from: 'archivist.webhook_delivery d',
  columns: COLUMNS,
  large: ['about'],
  idColumn: 'd.delivery_id',
  idOf: ({ deliveryId }) => deliveryId,
});
