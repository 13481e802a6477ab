/** Compliance over more assets than one step evaluates. */
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complianceEvents } from '../../src/archivist/compliance/compliance-event-store.js';
import { watchCompliance } from '../../src/archivist/compliance/watch-compliance.js';
import { startTestService, type TestService } from './test-service.js';

const ASSETS = Number(process.env['WATCHED_ASSETS'] ?? 250);
const PATIENCE = { timeout: 60_000, interval: 200 };
const HOUR_MS = 3_600_000;
const BULK = 500;

let running: TestService;
const assets: string[] = [];
beforeAll(async () => {
  running = await startTestService({ PRIVATE_IDENTITY_PROVIDERS: 'allow' });
  for (let made = 0; made < ASSETS; made += 50)
    await Promise.all(
      Array.from({ length: Math.min(50, ASSETS - made) }, async () => {
        const { json } = await running.owner.post('/archivist/v2/assets', { attributes: { kind: 'watched' } });
        assets.push(String(json['identity']));
      }),
    );
}, 600_000);
afterAll(() => running?.close());

const event = (asset_identity: string, arc_display_type: string) => ({
  ...{ operation: 'Record', behaviour: 'RecordEvidence', asset_identity },
  event_attributes: { arc_display_type },
});

async function record(events: readonly ReturnType<typeof event>[]): Promise<void> {
  for (let done = 0; done < events.length; done += BULK) {
    const { status } = await running.owner.post('/archivist/v2/assets/-/events:bulk', {
      events: events.slice(done, done + BULK),
    });
    expect(status).toBe(200);
  }
}

async function rows(text: string): Promise<Record<string, unknown>[]> {
  return running.service.parts.database.inTransaction('system', (tx) => tx.query(text));
}

const changes = () =>
  rows(`SELECT about->'data'->>'asset_identity' AS asset, about->'data'->>'compliance_status' AS status
          FROM archivist.webhook_delivery WHERE event_type = 'compliance.changed'`);

describe('watched compliance of many assets', () => {
  it('is told once of each asset whose deadline has passed, however many passed at once', async () => {
    const hook = await running.owner.post('/archivist/iam/v1/webhooks', {
      ...{ display_name: 'compliance', url: 'http://127.0.0.1:9/', event_types: ['compliance.changed'] },
      application: `applications/${running.owner.clientId}`,
    });
    expect(hook.status).toBe(200);
    await record(assets.map((asset) => event(asset, 'Reviewed')));
    await running.owner.post('/archivist/v1/compliance_policies', {
      ...{ compliance_type: 'COMPLIANCE_SINCE', display_name: 'Reviewed', description: '' },
      ...{ event_display_type: 'Reviewed', time_period_seconds: '3600' },
      asset_filter: [{ or: ['attributes.kind=watched'] }],
    });
    const due = () => rows('SELECT asset_id FROM archivist.compliance_verdict WHERE compliant AND due_at IS NOT NULL');
    await expect.poll(async () => (await due()).length, { ...PATIENCE, timeout: 600_000 }).toBe(ASSETS);
    expect(await changes()).toEqual([]);
    const { database, ids } = running.service.parts;
    const clock = { now: () => Date.now() + 2 * HOUR_MS };
    const deps = { database, ids, clock, logger: pino({ level: 'silent' }) };
    const begun = performance.now();
    await watchCompliance(deps, () => false);
    if (process.env['WATCHED_ASSETS']) console.log(`${ASSETS} assets in ${Math.round(performance.now() - begun)} ms`);
    const told = await changes();
    expect(told.map(({ asset }) => asset).sort()).toEqual([...assets].sort());
    expect(new Set(told.map(({ status }) => status))).toEqual(new Set(['NOT_COMPLIANT']));
    await watchCompliance(deps, () => false);
    expect(await changes()).toHaveLength(ASSETS);
  }, 900_000);

  it('reads every event of each asset, also of one that has more than its share of a query', async () => {
    const [busy, ...others] = assets.slice(0, 100) as [string, ...string[]];
    await record([
      ...Array.from({ length: 60 }, () => event(busy, 'Opened')),
      ...others.map((asset) => event(asset, 'Closed')),
      ...Array.from({ length: 60 }, () => event(busy, 'Closed')),
      event(busy, 'Neither'),
    ]);
    const { database } = running.service.parts;
    const tenantId = String(
      (await rows('SELECT DISTINCT tenant_id FROM archivist.compliance_policy'))[0]!['tenant_id'],
    );
    const bare = (asset: string) => asset.replace('assets/', '');
    const found = await database.inTransaction({ read: [tenantId], write: [] }, (tx) =>
      complianceEvents(tx, tenantId, assets.slice(0, 100).map(bare), ['Opened', 'Closed'], new Date('9999-01-01')),
    );
    const kinds = found.get(bare(busy))!.map(({ displayType }) => displayType);
    expect(kinds).toEqual([...Array(60).fill('Opened'), ...Array(60).fill('Closed')]);
    expect(others.map((asset) => found.get(bare(asset))?.length)).toEqual(others.map(() => 1));
  }, 120_000);
});
