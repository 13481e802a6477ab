import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deployment } from '../../../src/archivist/deployment.js';
import { queueDeliveries } from '../../../src/archivist/webhooks/queue-deliveries.js';
import { webhooksBehind } from '../../../src/archivist/webhooks/webhook-store.js';
import { systemClock } from '../../../src/platform/clock.js';
import { createIds } from '../../../src/platform/ids.js';
import type { Database } from '../../../src/platform/postgres/database.js';
import { engines, type TestDatabase } from '../../support/engines.js';

const uuid = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`;
const [BUSY, QUIET] = [uuid(1), uuid(2)];
const WEBHOOKS = [
  [BUSY, uuid(3)],
  [BUSY, uuid(4)],
  [BUSY, uuid(5)],
  [QUIET, uuid(6)],
] as const;

describe.each(engines())('webhooks that are behind on %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
    await opened.asOwner('ALTER TABLE archivist.webhook DISABLE TRIGGER ALL');
    for (const [tenantId, leaves] of [
      [BUSY, 1_000_000],
      [QUIET, 1],
    ] as const) {
      await opened.asOwner(
        `INSERT INTO archivist.tenancy (tenant_id, kind, display_name, wallet_address, created_at)
         VALUES ($1, 'organisation', 'Tenancy', 'none', now())`,
        [tenantId],
      );
      await opened.asOwner(
        `INSERT INTO archivist.log (tenant_id, log_id, structure, name, massif_height, leaves, created_at)
         VALUES ($1, $1, 'MMR_SHA256', 'log of ' || $3, 14, $2, now())`,
        [tenantId, leaves, tenantId],
      );
    }
    for (const [tenantId, webhookId] of WEBHOOKS)
      await opened.asOwner(
        `INSERT INTO archivist.webhook VALUES ($1, $2, $2, 'Webhook', 'https://example.com', '{event.confirmed}', '', -1,
           now())`,
        [tenantId, webhookId],
      );
  }, 120_000);
  afterAll(() => opened?.close());

  it('take turns: that of a quiet tenancy comes before the second one of a busy tenancy', async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      const behind = await opened.database.inTransaction('system', (tx) => webhooksBehind(tx, 2));
      expect(behind.map(({ tenantId }) => tenantId).sort()).toEqual([BUSY, QUIET]);
    }
  });

  it('are each tried, also after one that fails', async () => {
    const warned: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line) => void warned.push(line) });
    const database: Database = {
      ...opened.database,
      inTransaction(scope, work) {
        if (scope !== 'system') throw new Error('no page');
        return opened.database.inTransaction(scope, work);
      },
    };
    const deployment: Deployment = {
      deploymentTenancy: uuid(7),
      publicTenancy: uuid(8),
      publicStatementLog: uuid(8),
      privateStatementLog: uuid(7),
      keysLog: uuid(7),
    };
    const clock = systemClock;
    const publicUrl = 'http://localhost';
    await queueDeliveries({ database, deployment, ids: createIds(clock), logger, clock, publicUrl }, () => false);
    const tried = warned.map((line) => (JSON.parse(line) as { webhook: string }).webhook);
    expect(tried.sort()).toEqual(WEBHOOKS.map(([, webhookId]) => webhookId));
  });
});
