import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PolicyAuditDeps, recordPolicyAudit } from '../../../src/archivist/access/record-policy-audit.js';
import { insertAssets } from '../../../src/archivist/assets/asset-store.js';
import { insertPolicyAudit } from '../../../src/iam/access-policies/policy-audit-store.js';
import type { Failpoints } from '../../../src/ledger/failpoints.js';
import { systemClock } from '../../../src/platform/clock.js';
import { createIds } from '../../../src/platform/ids.js';
import { executeAll } from '../../../src/platform/postgres/execute-all.js';
import { engines, type TestDatabase } from '../../support/engines.js';

const MATCHING = 230;
const [tenantId, publicTenancy, deploymentTenancy] = [randomUUID(), randomUUID(), randomUUID()];
const BEFORE = new Date(Date.now() - 60_000);

describe.each(engines())('the audit events of a policy on %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
    const kinds = [
      { type: 'Lamp', public: false, createdAt: BEFORE, count: MATCHING },
      { type: 'Lamp', public: true, createdAt: BEFORE, count: 1 },
      { type: 'Lamp', public: false, createdAt: new Date(Date.now() + 60_000), count: 1 },
      { type: 'Gate', public: false, createdAt: BEFORE, count: 3 },
    ];
    const assets = kinds.flatMap(({ type, count, ...rest }) =>
      Array.from({ length: count }, () => ({
        ...rest,
        tenantId,
        assetId: randomUUID(),
        originTenantId: tenantId,
        newAssetEventId: randomUUID(),
        attributes: { arc_display_type: type },
        behaviours: [],
        proofMechanism: 'MERKLE_LOG' as const,
        tracked: true,
        owner: '',
        creatorIssuer: 'i',
        creatorSubject: 's',
      })),
    );
    await opened.database.inTransaction('system', (tx) => executeAll(tx, insertAssets(assets)));
  });
  afterAll(() => opened?.close());

  it('are recorded once on each asset that matched, however often the work is torn down at any place', async () => {
    const policyId = randomUUID();
    const filters = [{ or: ['attributes.arc_display_type=Lamp'] }];
    const eventAttributes = { arc_display_type: 'arc_access_policy', arc_access_policy_identity: policyId };
    await opened.database.inTransaction('system', (tx) =>
      insertPolicyAudit(tx, { tenantId, policyId, version: 1n, filters, eventAttributes, createdAt: new Date() }),
    );
    // Each attempt dies a little later than the one before: before, inside and after every transaction.
    let attempts = 0;
    for (let lifetime = 1; ; lifetime += 37) {
      attempts += 1;
      try {
        await recordPolicyAudit(depsThatDie(opened, lifetime));
        break;
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
      }
    }
    expect(attempts).toBeGreaterThan(3);
    const [found] = await opened.asOwner(
      `SELECT count(*)::int AS events, count(DISTINCT e.asset_id)::int AS assets, count(i.entry_id)::int AS waiting
         FROM archivist.asset_event e LEFT JOIN archivist.intake i ON i.tenant_id = e.tenant_id AND i.entry_id = e.event_id
        WHERE e.tenant_id = $1`,
      [tenantId],
    );
    expect(found).toEqual({ events: MATCHING, assets: MATCHING, waiting: MATCHING });
    expect(await opened.asOwner('SELECT FROM archivist.access_policy_audit')).toEqual([]);
    expect(await recordPolicyAudit(depsThatDie(opened, Number.POSITIVE_INFINITY))).toEqual({ recorded: 0 });
  });

  it('are recorded for each tenancy in its turn, however many another one has', async () => {
    const [flooding, waiting] = [randomUUID(), randomUUID()];
    const filters = [{ or: ['attributes.arc_display_type=Nothing'] }];
    const audit = (each: string, createdAt: Date) => ({
      tenantId: each,
      policyId: randomUUID(),
      version: 1n,
      filters,
      eventAttributes: {},
      createdAt,
    });
    await opened.database.inTransaction('system', async (tx) => {
      for (let count = 0; count < 20; count += 1) await insertPolicyAudit(tx, audit(flooding, BEFORE));
      await insertPolicyAudit(tx, audit(waiting, new Date()));
    });
    let steps = 0;
    await recordPolicyAudit(depsThatDie(opened, Number.POSITIVE_INFINITY), () => {
      steps += 1;
      return steps > 2;
    });
    const left = await opened.asOwner(
      'SELECT count(*)::int AS audits FROM archivist.access_policy_audit WHERE tenant_id = $1',
      [waiting],
    );
    expect(left).toEqual([{ audits: 0 }]);
  });
});

class Killed extends Error {}

/** What the work needs; after so many ids and failpoints it is torn down. */
function depsThatDie({ database }: TestDatabase, lifetime: number): PolicyAuditDeps {
  let left = lifetime;
  const live = () => {
    left -= 1;
    if (left < 0) throw new Killed();
  };
  const ids = createIds(systemClock);
  const failpoints: Failpoints = { reach: async () => live() };
  return {
    database,
    failpoints,
    clock: systemClock,
    ids: {
      ...ids,
      uuid() {
        live();
        return ids.uuid();
      },
    },
    wallets: new Map([[tenantId, '0x0']]),
    deployment: {
      deploymentTenancy,
      publicTenancy,
      publicStatementLog: randomUUID(),
      privateStatementLog: randomUUID(),
      keysLog: randomUUID(),
    },
    nudge: () => undefined,
  };
}
