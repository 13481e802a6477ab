/**
 * What is told of the compliance of assets before a policy has first been evaluated on them. The service evaluates every
 * five seconds too: whenever that is, the same is told.
 */
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { watchCompliance } from '../../src/archivist/compliance/watch-compliance.js';
import { sendRequest } from './send-request.js';
import { startTestService, type TestService } from './test-service.js';

const HOUR_MS = 3_600_000;
const POLICIES = '/archivist/v1/compliance_policies';
let running: TestService;
let hook: string | undefined;
let policies: string[] = [];
/** Assets of each test have their own. */
let kind = '';

beforeAll(async () => {
  running = await startTestService({ PRIVATE_IDENTITY_PROVIDERS: 'allow' });
}, 60_000);
beforeEach(({ task }) => {
  kind = task.id;
});
afterEach(async () => {
  const remove = (path: string) => sendRequest(running.url, running.owner, 'DELETE', path, undefined);
  for (const identity of policies) await remove(`/archivist/v1/${identity}`);
  await remove(`/archivist/iam/v1/${hook}`);
  policies = [];
  await watch();
});
afterAll(() => running?.close());

const asset = async (attributes: object = {}) => {
  const made = await running.owner.post('/archivist/v2/assets', { attributes: { kind, ...attributes } });
  return String(made.json['identity']);
};

/** Records an event and waits until it is in the log that the watch follows. */
async function record(identity: string, displayType: string, more: object = {}): Promise<void> {
  const { json } = await running.owner.post(`/archivist/v2/${identity}/events`, {
    ...{ operation: 'Record', behaviour: 'RecordEvidence', ...more },
    event_attributes: { arc_display_type: displayType },
  });
  const status = async () => (await running.owner.get(`/archivist/v2/${json['identity']}`)).json['confirmation_status'];
  await vi.waitFor(async () => expect(await status()).toBe('CONFIRMED'), { timeout: 30_000, interval: 50 });
}

/** Fails without an event of this type in the last hour. */
async function policy(displayType: string): Promise<void> {
  const { json } = await running.owner.post(POLICIES, {
    ...{ compliance_type: 'COMPLIANCE_SINCE', display_name: displayType, description: '' },
    ...{ event_display_type: displayType, time_period_seconds: '3600' },
    asset_filter: [{ or: [`attributes.kind=${kind}`] }],
  });
  policies.push(String(json['identity']));
}

async function webhook(): Promise<void> {
  const { json } = await running.owner.post('/archivist/iam/v1/webhooks', {
    ...{ display_name: 'compliance', url: 'http://127.0.0.1:9/', event_types: ['compliance.changed'] },
    application: `applications/${running.owner.clientId}`,
  });
  hook = String(json['identity']);
}

/** Does everything that is left; with `turns`, only the first so many steps. */
async function watch(turns = Number.POSITIVE_INFINITY, aheadMs = 0): Promise<void> {
  const { database, ids } = running.service.parts;
  const deps = { database, ids, clock: { now: () => Date.now() + aheadMs }, logger: pino({ level: 'silent' }) };
  let looked = 0;
  await watchCompliance(deps, () => ++looked > turns);
}

/** What the webhook is told: asset, status before, status now. */
async function told(): Promise<unknown[]> {
  const { json } = await running.owner.get(`/archivist/iam/v1/${hook}/deliveries`);
  const rows = await running.service.parts.database.inTransaction('system', (tx) =>
    tx.query<{ data: Record<string, string> }>(
      `SELECT about->'data' AS data FROM archivist.webhook_delivery WHERE webhook_id = $1 ORDER BY delivery_id`,
      [hook!.slice('webhooks/'.length)],
    ),
  );
  expect(rows).toHaveLength((json['deliveries'] as unknown[]).length);
  return rows.map(({ data }) => [data['asset_identity'], data['previous_status'], data['compliance_status']]);
}

it('an event on an asset that did not comply before the webhook was made is no change', async () => {
  const [early] = [await asset()];
  await record(early, 'Seen');
  await policy('Reviewed');
  await webhook();
  await watch(1);
  await record(early, 'Seen');
  await watch();
  expect(await told()).toEqual([]);
  await record(early, 'Reviewed');
  await watch();
  expect(await told()).toEqual([[early, 'NOT_COMPLIANT', 'COMPLIANT']]);
}, 60_000);

it('an event that changes compliance is told, also before the first evaluation, and so is a new asset', async () => {
  const [reviewed, left] = [await asset(), await asset()];
  await record(left, 'Seen');
  await policy('Reviewed');
  await webhook();
  await watch(1);
  await record(reviewed, 'Reviewed');
  await record(left, 'Seen', { asset_attributes: { kind: 'closed' } });
  const late = await asset();
  await record(late, 'Seen');
  await watch();
  expect(await told()).toEqual(
    expect.arrayContaining([
      [reviewed, 'NOT_COMPLIANT', 'COMPLIANT'],
      [left, 'NOT_COMPLIANT', 'NOT_APPLICABLE'],
      [late, 'NOT_APPLICABLE', 'NOT_COMPLIANT'],
    ]),
  );
  expect(await told()).toHaveLength(3);
}, 60_000);

it('the deadline of one policy tells nothing of another one that was not evaluated yet', async () => {
  const early = await asset();
  await record(early, 'Reviewed');
  await policy('Reviewed');
  await webhook();
  await watch();
  await policy('Signed');
  await watch(1, 2 * HOUR_MS);
  expect(await told()).toEqual([[early, 'COMPLIANT', 'NOT_COMPLIANT']]);
  await watch(Number.POSITIVE_INFINITY, 2 * HOUR_MS);
  expect(await told()).toHaveLength(1);
}, 60_000);
