import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import type { WebhookDelivery } from './webhook.js';

type Address = Pick<WebhookDelivery, 'tenantId' | 'deliveryId'>;

/** Conditions of a list refer to the table as `d`. */
const COLUMNS = selected(DELIVERY, 'd');

/** While a delivery is sent, no other process takes it; after a crash it is taken again. */
const SENDING = '2 minutes';
/** Of one webhook at once, so that a slow receiver does not hold up the others. */
const OF_ONE_WEBHOOK = 10;

/** What is new about a delivery; everything else begins empty. */
type NewDelivery = Pick<
  WebhookDelivery,
  'tenantId' | 'deliveryId' | 'webhookId' | 'position' | 'eventType' | 'createdAt'
>;

export async function insertDeliveries(tx: Tx, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  await tx.execute(
    `INSERT INTO archivist.webhook_delivery (tenant_id, delivery_id, webhook_id, position, event_type, status,
       next_attempt_at, created_at)
     SELECT n.t, n.d, n.w, n.p, n.e, 'PENDING', n.at, n.at
       FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::text[], $6::timestamptz[])
         AS n(t, d, w, p, e, at)
     ON CONFLICT DO NOTHING`,
    [
      deliveries.map((delivery) => delivery.tenantId),
      deliveries.map((delivery) => delivery.deliveryId),
      deliveries.map((delivery) => delivery.webhookId),
      deliveries.map((delivery) => delivery.position),
      deliveries.map((delivery) => delivery.eventType),
      deliveries.map((delivery) => delivery.createdAt),
    ],
  );
}

/** Takes due deliveries of enabled tenancies, the oldest positions of each webhook first. */
export async function takeDueDeliveries(tx: Tx, now: Date, limit: number): Promise<WebhookDelivery[]> {
  return tx.query<WebhookDelivery & object>(
    `UPDATE archivist.webhook_delivery d SET next_attempt_at = $1::timestamptz + interval '${SENDING}'
      WHERE (d.tenant_id, d.delivery_id) IN (
        SELECT due.tenant_id, due.delivery_id FROM (
          SELECT tenant_id, delivery_id, webhook_id, position,
                 row_number() OVER (PARTITION BY tenant_id, webhook_id ORDER BY position) AS place
            FROM archivist.webhook_delivery WHERE status = 'PENDING' AND next_attempt_at <= $1) AS due
          JOIN archivist.tenancy t ON t.tenant_id = due.tenant_id AND t.disabled_at IS NULL
         WHERE due.place <= ${OF_ONE_WEBHOOK} ORDER BY due.place LIMIT $2)
        AND d.status = 'PENDING' AND d.next_attempt_at <= $1
      RETURNING ${COLUMNS}`,
    [now, limit],
  );
}

/** Records how an attempt ended, unless the delivery was replayed meanwhile. */
export async function recordAttempt(
  tx: Tx,
  delivery: WebhookDelivery,
  outcome: Pick<WebhookDelivery, 'status' | 'attempts' | 'nextAttemptAt' | 'lastError'>,
): Promise<void> {
  await tx.execute(
    `UPDATE archivist.webhook_delivery SET status = $4, attempts = $5, next_attempt_at = $6, last_error = $7
      WHERE tenant_id = $1 AND delivery_id = $2 AND next_attempt_at = $3`,
    [
      delivery.tenantId,
      delivery.deliveryId,
      delivery.nextAttemptAt,
      outcome.status,
      outcome.attempts,
      outcome.nextAttemptAt,
      outcome.lastError,
    ],
  );
}

/** Makes a delivery due again, with all its attempts before it. */
export async function replayDelivery(
  tx: Tx,
  address: Address & Pick<WebhookDelivery, 'webhookId'>,
  now: Date,
): Promise<WebhookDelivery | undefined> {
  const [row] = await tx.query<WebhookDelivery>(
    `UPDATE archivist.webhook_delivery d SET status = 'PENDING', attempts = 0, next_attempt_at = $4, last_error = ''
      WHERE d.tenant_id = $1 AND d.webhook_id = $2 AND d.delivery_id = $3 RETURNING ${COLUMNS}`,
    [address.tenantId, address.webhookId, address.deliveryId, now],
  );
  return row;
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
export const webhookDeliveryRows = rowList<WebhookDelivery, WebhookDelivery>({
  from: 'archivist.webhook_delivery d',
  columns: COLUMNS,
  idColumn: 'd.delivery_id',
  idOf: ({ deliveryId }) => deliveryId,
  entryOf: (row) => row,
});
