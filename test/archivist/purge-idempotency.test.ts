import { randomBytes, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findClaims, releaseClaims, takeClaims } from '../../src/archivist/idempotency/idempotency-store.js';
import { purgeIdempotency } from '../../src/archivist/idempotency/purge-idempotency.js';
import { startPurgeIdempotencyJob } from '../../src/archivist/idempotency/purge-idempotency-job.js';
import { insertTenancy } from '../../src/iam/tenancies/tenancy-store.js';
import type { Tx } from '../../src/platform/postgres/database.js';
import { postgresQueues } from '../../src/platform/queue/open-queue-backend.js';
import { eventually } from '../plugins/plugin-rig.js';
import { engines, type TestDatabase } from '../support/engines.js';

const DAY = 24 * 3_600_000;
const NOW = Date.parse('2026-11-20T10:00:00Z');
const clock = { now: () => NOW };
const tenants = [randomUUID(), randomUUID(), randomUUID()];

describe.each(engines())('old idempotency keys on %s', (engine) => {
  let opened: TestDatabase;

  beforeAll(async () => {
    opened = await engine.open();
    await opened.database.inTransaction('system', async (tx) => {
      for (const tenantId of tenants) {
        const about = { displayName: '', verifiedDomain: '', walletAddress: tenantId, createdAt: new Date(NOW) };
        await insertTenancy(tx, { tenantId, kind: 'organisation', ...about });
      }
    });
  });
  afterAll(() => opened.close());

  const take = (tenantId: string, count: number, ageMs: number) =>
    opened.database.inTransaction('system', (tx) => {
      const claims = Array.from({ length: count }, () => ({
        tenantId,
        scope: randomBytes(32),
        bodyHash: randomBytes(32),
        resource: randomUUID(),
      }));
      return takeClaims(tx, claims, new Date(NOW - ageMs));
    });
  const left = async () => {
    const rows = await opened.database.inTransaction('system', (tx) =>
      tx.query<{ tenant_id: string; count: bigint }>(
        'SELECT tenant_id, count(*) FROM archivist.idempotency GROUP BY tenant_id',
      ),
    );
    return new Map(rows.map((row) => [row.tenant_id, Number(row.count)]));
  };

  it('are taken by a request that finds them while they are purged: the next one must find them', async () => {
    const { database } = opened;
    const claim = (scope = randomBytes(32)) => ({
      tenantId: tenants[0]!,
      scope,
      bodyHash: randomBytes(32),
      resource: randomUUID(),
    });
    const [old, kept] = [claim(), claim()];
    await database.inTransaction('system', (tx) => takeClaims(tx, [old], new Date(NOW - 31 * DAY)));
    await database.inTransaction('system', (tx) => takeClaims(tx, [kept], new Date(NOW)));
    const [again, repeated, fresh] = [claim(old.scope), claim(kept.scope), claim()];
    const taken = await database.inTransaction('system', (tx) => {
      let isPurged = false;
      const afterPurge: Tx = {
        execute: (text, values) => tx.execute(text, values),
        async query(text, values) {
          if (!isPurged)
            await tx.execute('DELETE FROM archivist.idempotency WHERE created_at < $1', [new Date(NOW - DAY)]);
          isPurged = true;
          return tx.query(text, values);
        },
      };
      return takeClaims(afterPurge, [again, repeated, fresh], new Date(NOW));
    });
    expect(taken.map((earlier) => earlier?.resource)).toEqual([undefined, kept.resource, undefined]);
    const held = await database.inTransaction('system', (tx) => findClaims(tx, [again, fresh]));
    expect(held.map((row) => row?.resource)).toEqual([again.resource, fresh.resource]);
    await database.inTransaction('system', (tx) => releaseClaims(tx, [again, kept, fresh]));
  });

  it('are forgotten after 30 days, of every tenancy and however many, and not before', async () => {
    const [first, second, third] = tenants as [string, string, string];
    await take(first, 1_203, 30 * DAY + 1);
    await take(first, 2, 30 * DAY);
    await take(second, 7, 300 * DAY);
    await take(third, 5, 0);
    expect(await purgeIdempotency({ database: opened.database, clock })).toBe(1_210);
    expect(await left()).toEqual(
      new Map([
        [first, 2],
        [third, 5],
      ]),
    );
  });

  it('go in transactions of a bounded size, and no more of them once it is stopped', async () => {
    await take(tenants[0]!, 1_203, 31 * DAY);
    let asked = 0;
    const stopAtSecond = () => {
      asked += 1;
      return asked > 1;
    };
    const forgotten = await purgeIdempotency({ database: opened.database, clock }, stopAtSecond);
    expect(forgotten).toBeGreaterThan(0);
    expect(forgotten).toBeLessThanOrEqual(500);
  });

  it('are forgotten by schedule', async () => {
    await take(tenants[1]!, 3, 31 * DAY);
    const logger = pino({ level: 'silent' });
    const backend = postgresQueues(opened.database, logger);
    const job = await startPurgeIdempotencyJob({ database: opened.database, clock, backend, logger }, '* * * * * *');
    await eventually(async () => !(await left()).has(tenants[1]!), 30_000);
    await job.close();
    await backend.close();
  });
});
