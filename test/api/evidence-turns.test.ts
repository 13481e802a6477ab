import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HeldLock, holdLock } from '../support/hold-lock.js';
import { serverUrl } from '../support/prerequisites.js';
import { type Client, startTestService, type TestService, until } from './test-service.js';

const BUNDLES = 24;
const OF_CALLER = 2;
/** Rounds of logs of the service's own, in which the event or the test before is still being worked on. */
const OF_SERVICE = 3;

describe.skipIf(!serverUrl)('evidence bundles that one caller requests at the same time', () => {
  let running: TestService;
  let elsewhere: Client;
  let event: string;
  beforeAll(async () => {
    running = await startTestService();
    elsewhere = await running.client({ roles: ['OWNER'], otherTenancy: true });
    const { owner, anonymous } = running;
    const asset = await owner.post('/archivist/v2/assets', { attributes: {}, public: true });
    const record = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: {} };
    const made = await owner.post(`/archivist/v2/${asset.json['identity']}/events`, record);
    event = String(made.json['identity']);
    const ready = await until(
      () => anonymous.get(`/archivist/v2/public${event}/evidence`),
      ({ status }) => status === 200,
      20_000,
    );
    expect(ready.status).toBe(200);
  });
  afterAll(() => running?.close());

  it.each([
    ['without a token', () => running.anonymous, 'public'],
    ['with a token', () => running.owner, ''],
  ] as const)(
    '%s: two are gathered, so another tenancy is answered meanwhile, and the others follow',
    async (_, caller, form) => {
      let lock: HeldLock | undefined;
      try {
        lock = await holdLock(running.environment['DATABASE_URL']!, 'LOCK TABLE archivist.node_page');
        const bundles = Array.from({ length: BUNDLES }, () => caller().get(`/archivist/v2/${form}${event}/evidence`));
        await expect.poll(lock.waiting, { timeout: 20_000 }).toBeGreaterThanOrEqual(OF_CALLER);
        expect((await elsewhere.get('/archivist/iam/v1/applications')).status).toBe(200);
        expect(await lock.waiting()).toBeLessThanOrEqual(OF_CALLER + OF_SERVICE);
        await lock.release();
        const statuses = (await Promise.all(bundles)).map(({ status }) => status);
        expect(statuses).toEqual(Array(BUNDLES).fill(200));
      } finally {
        await lock?.release();
      }
    },
    60_000,
  );
});
