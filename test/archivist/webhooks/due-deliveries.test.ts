import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { takeDueDeliveries } from '../../../src/archivist/webhooks/webhook-delivery-store.js';
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
  beforeAll(async () => {
    opened = await engine.open();
    // Only the tenancy of the deliveries matters here.
    await opened.asOwner('ALTER TABLE archivist.webhook_delivery DISABLE TRIGGER ALL');
    await opened.asOwner(
      `INSERT INTO archivist.tenancy (tenant_id, kind, display_name, wallet_address, created_at)
       VALUES ($1, 'organisation', 'Tenancy', 'none', now())`,
      [TENANCY],
    );
    for (const [webhook, count, due] of [
      [BUSY, MANY, EARLIER],
      [FAILING, MANY, LATER],
      [SMALL, 5, EARLIER],
    ] as const)
      await opened.asOwner(
        `INSERT INTO archivist.webhook_delivery (tenant_id, delivery_id, webhook_id, position, event_type, status,
           next_attempt_at, created_at)
         SELECT $1::uuid, gen_random_uuid(), $2::uuid, n, 'event.confirmed', 'PENDING', $4::timestamptz, $4::timestamptz
           FROM generate_series(1, $3::int) AS n`,
        [TENANCY, webhook, count, due],
      );
    await opened.asOwner('ANALYZE archivist.webhook_delivery');
  }, 120_000);
  afterAll(() => opened?.close());

  it('are taken a few of each webhook, and nothing is read beside them, however many wait', async () => {
    await opened.database.inTransaction('system', async (tx) => {
      const watched = watchedRows(tx);
      // The plan takes the first, the statement the next.
      const taken = await takeDueDeliveries(watched.tx, NOW, 50);
      expect(taken.map(({ webhookId }) => webhookId)).toEqual(Array(10).fill(BUSY));
      expect(taken.map(({ position }) => Number(position)).sort((left, right) => left - right)).toEqual(
        Array.from({ length: 10 }, (_, place) => 11 + place),
      );
      // The plan counts each of the 15 when it is found, looked up and changed, and a step to each of three webhooks.
      expect(watched.read('webhook_delivery')).toBeLessThanOrEqual(3 * 15 + 3 + 3);
    });
  });

  it('go on after the webhook that was served last', async () => {
    const webhooks = await opened.database.inTransaction('system', async (tx) => {
      await tx.execute(`UPDATE archivist.webhook_delivery SET next_attempt_at = $2 WHERE webhook_id = $1`, [
        SMALL,
        EARLIER,
      ]);
      return (await takeDueDeliveries(tx, NOW, 50, { tenantId: TENANCY, webhookId: BUSY })).map(
        (each) => each.webhookId,
      );
    });
    expect(webhooks).toEqual(Array(5).fill(SMALL));
  });
});
