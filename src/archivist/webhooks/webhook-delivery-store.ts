import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { changeRow, updateRows } from '../../platform/postgres/rows-by-key.js';
import type { WebhookDelivery } from './webhook.js';

type Address = Pick<WebhookDelivery, 'tenantId' | 'deliveryId'>;
type WebhookAddress = Pick<WebhookDelivery, 'tenantId' | 'webhookId'>;

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
/** Of one webhook at once, so that a slow receiver does not hold up the others. */
const OF_ONE_WEBHOOK = 10;

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

/** Comes before every webhook. */
export const FIRST_WEBHOOK: WebhookAddress = {
  tenantId: '00000000-0000-0000-0000-000000000000',
  webhookId: '00000000-0000-0000-0000-000000000000',
};

/**
 * Takes due deliveries of enabled tenancies: a few of each webhook that comes after the given one, those that have been
 * due for longest first. Reads what it takes, and one row of each webhook with pending deliveries on its way.
 */
export async function takeDueDeliveries(
  tx: Tx,
  now: Date,
  limit: number,
  after: WebhookAddress = FIRST_WEBHOOK,
): Promise<WebhookDelivery[]> {
  // The recursion goes from webhook to webhook in the index of pending deliveries; the limit ends it.
  return tx.query<WebhookDelivery>(
    `WITH RECURSIVE hook AS (
       (SELECT p.tenant_id, p.webhook_id FROM archivist.webhook_delivery p
         WHERE p.status = 'PENDING' AND (p.tenant_id, p.webhook_id) > ($3::uuid, $4::uuid)
         ORDER BY p.tenant_id, p.webhook_id LIMIT 1)
       UNION ALL
       SELECT n.tenant_id, n.webhook_id FROM hook h CROSS JOIN LATERAL (
         SELECT p.tenant_id, p.webhook_id FROM archivist.webhook_delivery p
          WHERE p.status = 'PENDING' AND (p.tenant_id, p.webhook_id) > (h.tenant_id, h.webhook_id)
          ORDER BY p.tenant_id, p.webhook_id LIMIT 1) AS n),
     due AS MATERIALIZED (
       SELECT o.tenant_id, o.delivery_id FROM hook h CROSS JOIN LATERAL (
         SELECT p.tenant_id, p.delivery_id FROM archivist.webhook_delivery p
          WHERE p.tenant_id = h.tenant_id AND p.webhook_id = h.webhook_id AND p.status = 'PENDING'
            AND p.next_attempt_at <= $1
            AND EXISTS (SELECT 1 FROM archivist.tenancy t WHERE t.tenant_id = h.tenant_id AND t.disabled_at IS NULL)
          ORDER BY p.next_attempt_at, p.position, p.delivery_id LIMIT ${OF_ONE_WEBHOOK}) AS o
        LIMIT $2)
     UPDATE archivist.webhook_delivery d SET ${DELIVERY.of.nextAttemptAt} = $1::timestamptz + interval '${SENDING}'
       FROM due WHERE d.tenant_id = due.tenant_id AND d.delivery_id = due.delivery_id
        AND d.status = 'PENDING' AND d.next_attempt_at <= $1
     RETURNING ${COLUMNS}`,
    [now, limit, after.tenantId, after.webhookId],
  );
}

/** Records how an attempt ended, unless the delivery was replayed meanwhile. */
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
