import { randomBytes, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findInvite, insertInvite } from '../../src/iam/invites/invite-store.js';
import { startPurgeInvitesJob } from '../../src/iam/invites/purge-invites-job.js';
import { insertTenancy } from '../../src/iam/tenancies/tenancy-store.js';
import { postgresQueues } from '../../src/platform/queue/open-queue-backend.js';
import { eventually } from '../plugins/plugin-rig.js';
import { engines, type TestDatabase } from '../support/engines.js';

const DAY = 24 * 3_600_000;
const NOW = Date.parse('2026-11-20T10:00:00Z');

describe.each(engines())('invites on %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
  });
  afterAll(() => opened?.close());

  const invite = async (tenantId: string, expiredMs: number) => {
    const expiryTime = new Date(NOW - expiredMs);
    const row = { tenantId, inviteId: randomUUID(), email: 'them@example.com', message: '', expiryTime };
    const stored = { ...row, createdAt: new Date(expiryTime.getTime() - 7 * DAY) };
    await opened.database.inTransaction('system', (tx) => insertInvite(tx, stored, randomBytes(32)));
    return row;
  };
  const isThere = async ({ tenantId, inviteId }: { tenantId: string; inviteId: string }) =>
    (await opened.database.inTransaction('system', (tx) => findInvite(tx, tenantId, inviteId))) !== undefined;

  it('are deleted by schedule, in every tenancy, when they expired more than thirty days ago, and no others', async () => {
    const tenants = [randomUUID(), randomUUID()] as const;
    await opened.database.inTransaction('system', async (tx) => {
      for (const tenantId of tenants) {
        const about = { displayName: '', verifiedDomain: '', walletAddress: tenantId, createdAt: new Date(NOW) };
        await insertTenancy(tx, { tenantId, kind: 'organisation', ...about });
      }
    });
    const old = [await invite(tenants[0], 30 * DAY + 1), await invite(tenants[1], 300 * DAY)];
    const kept = [await invite(tenants[0], 30 * DAY), await invite(tenants[1], 1), await invite(tenants[1], -DAY)];
    const logger = pino({ level: 'silent' });
    const backend = postgresQueues(opened.database, logger);
    const deps = { database: opened.database, clock: { now: () => NOW }, logger, backend };
    const job = await startPurgeInvitesJob(deps, '* * * * * *');
    await eventually(async () => !(await Promise.all(old.map(isThere))).includes(true), 30_000);
    await job.close();
    await backend.close();
    expect(await Promise.all(kept.map(isThere))).toEqual([true, true, true]);
  });
});
