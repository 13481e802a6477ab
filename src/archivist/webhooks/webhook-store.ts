import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { deleteRow, findRow, updateRows } from '../../platform/postgres/rows-by-key.js';
import type { Webhook, WebhookEventType } from './webhook.js';

type Address = Pick<Webhook, 'tenantId' | 'webhookId'>;

const WEBHOOK = table('webhook').columns<Webhook>({
  tenantId: 'tenant_id',
  webhookId: 'webhook_id',
  applicationId: 'application_id',
  displayName: 'display_name',
  url: 'url',
  eventTypes: 'event_types',
  secretSealed: 'secret_sealed',
  cursor: 'cursor',
  createdAt: 'created_at',
});
const KEY = ['tenantId', 'webhookId'] as const;
/** Conditions of a list refer to the table as `w`. */
const COLUMNS = selected(WEBHOOK, 'w');

export async function insertWebhook(tx: Tx, webhook: Webhook): Promise<void> {
  await insertRows(tx, WEBHOOK, [webhook]);
}

export function findWebhook(tx: Tx, address: Address): Promise<Webhook | undefined> {
  return findRow(tx, WEBHOOK, KEY, address);
}

/** Deletes a webhook with its deliveries and returns the deleted webhook. */
export function deleteWebhookRow(tx: Tx, address: Address): Promise<Webhook | undefined> {
  return deleteRow(tx, WEBHOOK, KEY, address);
}

/** Number of webhooks of a tenancy. */
export async function countWebhooks(tx: Tx, tenantId: string): Promise<number> {
  const [row] = await tx.query<{ count: bigint }>(
    'SELECT count(*) AS count FROM archivist.webhook WHERE tenant_id = $1',
    [tenantId],
  );
  return Number(row!.count);
}

/**
 * Webhooks of enabled tenancies whose logs have grown beyond them, in random order: one of each tenancy, then a second one
 * of each, and so on, so that the webhooks of one tenancy do not hold up the others.
 */
export async function webhooksBehind(tx: Tx, limit: number): Promise<Webhook[]> {
  return tx.query<Webhook>(
    `SELECT ${COLUMNS} FROM archivist.webhook w
       JOIN archivist.log l ON l.tenant_id = w.tenant_id AND l.log_id = w.tenant_id
       JOIN archivist.tenancy t ON t.tenant_id = w.tenant_id AND t.disabled_at IS NULL
      WHERE l.leaves > w.cursor + 1
      ORDER BY row_number() OVER (PARTITION BY w.tenant_id ORDER BY random()), random() LIMIT $1`,
    [limit],
  );
}

/** The webhooks of a tenancy that tell this. */
export async function webhooksTelling(tx: Tx, tenantId: string, eventType: WebhookEventType): Promise<Webhook[]> {
  return tx.query<Webhook>(
    `SELECT ${COLUMNS} FROM archivist.webhook w WHERE w.tenant_id = $1 AND $2 = ANY (w.event_types)`,
    [tenantId, eventType],
  );
}

/** Moves the cursor, unless another process has moved it since. Returns whether it did. */
export async function advanceWebhook(tx: Tx, webhook: Webhook, cursor: bigint): Promise<boolean> {
  const { tenantId, webhookId, cursor: before } = webhook;
  return (await updateRows(tx, WEBHOOK, KEY, ['cursor'], { tenantId, webhookId, cursor }, { cursor: before })) === 1;
}

/** Conditions refer to a row as `w`. */
export const webhookRows = rowList<Webhook>({
  from: 'archivist.webhook w',
  columns: COLUMNS,
  large: ['url'],
  idColumn: 'w.webhook_id',
  idOf: ({ webhookId }) => webhookId,
});
