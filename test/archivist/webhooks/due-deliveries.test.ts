import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  takeDueDeliveries,
  type WebhookAddress,
  webhooksWithDue,
} from '../../../src/archivist/webhooks/webhook-delivery-store.js';
import type { Tx } from '../../../src/platform/postgres/database.js';
import { engines, type TestDatabase } from '../../support/engines.js';
import { watchedRows } from '../../support/watched-rows.js';

const MANY = 20_000;
const NOW = new Date('2026-11-22T10:00:00Z');
const EARLIER = '2026-11-22T09:00:00Z';
const LATER = '2026-11-22T11:00:00Z';
const uuid = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`;
const TENANCY = uuid(1);
const [BUSY, FAILING, SMALL] = [uuid(2), uuid(3), uuid(4)];

describe.each(engines())('due deliveries on %s', (engine) => {
  let opened: TestDatabase;
  const addTenancy = (tenantId: string) =>
    opened.asOwner(
      `INSERT INTO archivist.tenancy (tenant_id, kind, display_name, wallet_address, created_at)
       VALUES ($1, 'organisation', 'Tenancy', 'none', now())`,
      [tenantId],
    );
  const addDeliveries = ({ tenantId, webhookId }: WebhookAddress, count: number, due: string) =>
    opened.asOwner(
      `INSERT INTO archivist.webhook_delivery (tenant_id, delivery_id, webhook_id, position, event_type, status,
         next_attempt_at, created_at)
       SELECT $1::uuid, gen_random_uuid(), $2::uuid, n, 'event.confirmed', 'PENDING', $4::timestamptz, $4::timestamptz
         FROM generate_series(1, $3::int) AS n`,
      [tenantId, webhookId, count, due],
    );
  beforeAll(async () => {
    opened = await engine.open();
    // Only the tenancy of the deliveries matters here.
    await opened.asOwner('ALTER TABLE archivist.webhook_delivery DISABLE TRIGGER ALL');
    await addTenancy(TENANCY);
    for (const [webhookId, count, due] of [
      [BUSY, MANY, EARLIER],
      [FAILING, MANY, LATER],
      [SMALL, 5, EARLIER],
    ] as const)
      await addDeliveries({ tenantId: TENANCY, webhookId }, count, due);
    await opened.asOwner('ANALYZE archivist.webhook_delivery');
  }, 120_000);
  afterAll(() => opened?.close());

  const take = (tx: Tx, webhookId: string, limit: number) =>
    takeDueDeliveries(tx, { tenantId: TENANCY, webhookId }, { due: NOW, now: NOW, limit });

  it('are found by their webhooks, of which few rows are read, however many wait', async () => {
    await opened.database.inTransaction('system', async (tx) => {
      const watched = watchedRows(tx);
      const found = await webhooksWithDue(watched.tx, NOW, 50);
      expect(found.map(({ webhookId }) => webhookId).sort()).toEqual([BUSY, SMALL]);
      // Two of each webhook, and the step that ends.
      expect(watched.read('webhook_delivery')).toBeLessThanOrEqual(3 * 2 + 1);
    });
  });

  it('are taken a few at a time, and nothing is read beside them, however many wait', async () => {
    await opened.database.inTransaction('system', async (tx) => {
      const watched = watchedRows(tx);
      // The plan takes the first, the statement the next.
      const taken = await take(watched.tx, BUSY, 10);
      expect(taken.map(({ position }) => Number(position)).sort((left, right) => left - right)).toEqual(
        Array.from({ length: 10 }, (_, place) => 11 + place),
      );
      // The plan counts each when it is found, looked up and changed.
      expect(watched.read('webhook_delivery')).toBeLessThanOrEqual(3 * 10);
      expect(await take(tx, FAILING, 10)).toEqual([]);
    });
  });

  it('of a tenancy with one webhook come before the second webhook of another, and those of a disabled one not at all', async () => {
    const small = { tenantId: uuid(5), webhookId: uuid(6) };
    await addTenancy(small.tenantId);
    await addDeliveries(small, 1, EARLIER);
    for (let turn = 0; turn < 10; turn += 1) {
      const found = await opened.database.inTransaction('system', (tx) => webhooksWithDue(tx, NOW, 2));
      expect(found).toContainEqual(small);
    }
    await opened.asOwner('UPDATE archivist.tenancy SET disabled_at = now() WHERE tenant_id = $1', [small.tenantId]);
    await opened.database.inTransaction('system', async (tx) => {
      expect(await webhooksWithDue(tx, NOW, 50)).not.toContainEqual(small);
      expect(await takeDueDeliveries(tx, small, { due: NOW, now: NOW, limit: 1 })).toEqual([]);
    });
  });
});
