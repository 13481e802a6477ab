import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HeldLock, holdLock } from '../support/hold-lock.js';
import { serverUrl } from '../support/prerequisites.js';
import { type Client, startTestService, type TestService, until } from './test-service.js';

const REQUESTS = 24;
const OF_CALLER = 2;
/** Rounds of logs of the service's own, in which the event or the test before is still being worked on. */
const OF_SERVICE = 3;
const LATE = '2999-01-01T00:00:00Z';

describe.skipIf(!serverUrl)('long reads that one caller requests at the same time', () => {
  let running: TestService;
  let elsewhere: Client;
  let asset: string;
  let event: string;
  beforeAll(async () => {
    running = await startTestService();
    elsewhere = await running.client({ roles: ['OWNER'], otherTenancy: true });
    const { owner, anonymous } = running;
    asset = String((await owner.post('/archivist/v2/assets', { attributes: {}, public: true })).json['identity']);
    const record = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: {} };
    const made = await owner.post(`/archivist/v2/${asset}/events`, record);
    event = String(made.json['identity']);
    const ready = await until(
      () => anonymous.get(`/archivist/v2/public${event}/evidence`),
      ({ status }) => status === 200,
      20_000,
    );
    expect(ready.status).toBe(200);
  });
  afterAll(() => running?.close());

  const all = { 'x-request-total-count': 'true' };
  it.each([
    ['bundles without a token', 'node_page', () => running.anonymous.get(`/archivist/v2/public${event}/evidence`)],
    ['bundles with a token', 'node_page', () => running.owner.get(`/archivist/v2/${event}/evidence`)],
    ['searches', 'asset_free_event', () => running.owner.post('/archivist/v1/events/search', { filter: '' })],
    ['past states', 'asset_event', () => running.owner.get(`/archivist/v2/${asset}?at_time=${LATE}`)],
    [
      'past states without a token',
      'asset_event',
      () => running.anonymous.get(`/archivist/v2/public${asset}?at_time=${LATE}`),
    ],
    ['verdicts on compliance', 'compliance_policy', () => running.owner.get(`/archivist/v1/compliance/${asset}`)],
    ['exact totals', 'location', () => running.owner.get('/archivist/v2/locations', all)],
    [
      'exact totals without a token',
      'chain_transaction',
      () => running.anonymous.get(`/archivist/v2/publicassets/-/events?transaction_id=0x${'0'.repeat(64)}`, all),
    ],
  ] as const)(
    '%s: two are read, so another tenancy is answered meanwhile, and the others follow',
    async (_, table, ask) => {
      let lock: HeldLock | undefined;
      try {
        lock = await holdLock(running.environment['DATABASE_URL']!, `LOCK TABLE archivist.${table}`);
        const asked = Array.from({ length: REQUESTS }, ask);
        await expect.poll(lock.waiting, { timeout: 20_000 }).toBeGreaterThanOrEqual(OF_CALLER);
        expect((await elsewhere.get('/archivist/iam/v1/applications')).status).toBe(200);
        expect(await lock.waiting()).toBeLessThanOrEqual(OF_CALLER + OF_SERVICE);
        await lock.release();
        const statuses = (await Promise.all(asked)).map(({ status }) => status);
        expect(statuses).toEqual(Array(REQUESTS).fill(200));
      } finally {
        await lock?.release();
      }
    },
    60_000,
  );
});
