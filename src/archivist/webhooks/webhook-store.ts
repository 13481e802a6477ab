import { rowList } from '../../platform/listing/row-list-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Webhook } from './webhook.js';

type Address = Pick<Webhook, 'tenantId' | 'webhookId'>;

/** Conditions of a list refer to the table as `w`. */
const COLUMNS = `w.tenant_id AS "tenantId", w.webhook_id AS "webhookId", w.application_id AS "applicationId",
  w.display_name AS "displayName", w.url, w.event_types AS "eventTypes", w.secret_sealed AS "secretSealed", w.cursor,
  w.created_at AS "createdAt"`;

export async function insertWebhook(tx: Tx, webhook: Webhook): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.webhook (tenant_id, webhook_id, application_id, display_name, url, event_types, secret_sealed,
       cursor, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      webhook.tenantId,
      webhook.webhookId,
      webhook.applicationId,
      webhook.displayName,
      webhook.url,
      webhook.eventTypes,
      webhook.secretSealed,
      webhook.cursor,
      webhook.createdAt,
    ],
  );
}

export async function findWebhook(tx: Tx, address: Address): Promise<Webhook | undefined> {
  const [row] = await tx.query<Webhook & object>(
    `SELECT ${COLUMNS} FROM archivist.webhook w WHERE w.tenant_id = $1 AND w.webhook_id = $2`,
    [address.tenantId, address.webhookId],
  );
  return row;
}

/** Deletes a webhook with its deliveries and returns what it was. */
export async function deleteWebhookRow(tx: Tx, address: Address): Promise<Webhook | undefined> {
  const [row] = await tx.query<Webhook & object>(
    `DELETE FROM archivist.webhook w WHERE w.tenant_id = $1 AND w.webhook_id = $2 RETURNING ${COLUMNS}`,
    [address.tenantId, address.webhookId],
  );
  return row;
}

/** Number of webhooks of a tenancy. */
export async function countWebhooks(tx: Tx, tenantId: string): Promise<number> {
  const [row] = await tx.query<{ count: bigint }>(
    'SELECT count(*) AS count FROM archivist.webhook WHERE tenant_id = $1',
    [tenantId],
  );
  return Number(row!.count);
}

/** Webhooks of enabled tenancies whose logs have grown beyond them; those that are furthest behind first. */
export async function webhooksBehind(tx: Tx, limit: number): Promise<Webhook[]> {
  return tx.query<Webhook & object>(
    `SELECT ${COLUMNS} FROM archivist.webhook w
       JOIN archivist.log l ON l.tenant_id = w.tenant_id AND l.log_id = w.tenant_id
       JOIN archivist.tenancy t ON t.tenant_id = w.tenant_id AND t.disabled_at IS NULL
      WHERE l.leaves > w.cursor + 1 ORDER BY l.leaves - w.cursor DESC LIMIT $1`,
    [limit],
  );
}

/** Moves the cursor, unless another process has moved it since. Returns whether it did. */
export async function advanceWebhook(tx: Tx, webhook: Webhook, cursor: bigint): Promise<boolean> {
  const moved = await tx.execute(
    'UPDATE archivist.webhook SET cursor = $4 WHERE tenant_id = $1 AND webhook_id = $2 AND cursor = $3',
    [webhook.tenantId, webhook.webhookId, webhook.cursor, cursor],
  );
  return moved === 1;
}

/** Conditions refer to a row as `w`. */
export const webhookRows = rowList<Webhook, Webhook>({
  from: 'archivist.webhook w',
  columns: COLUMNS,
  idColumn: 'w.webhook_id',
  idOf: ({ webhookId }) => webhookId,
  entryOf: (row) => row,
});
