import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createActTurns } from '../../src/iam/security/act-turns.js';
import { type HeldLock, holdLock } from '../support/hold-lock.js';
import { serverUrl } from '../support/prerequisites.js';
import { type Client, startTestService, type TestService } from './test-service.js';

const ACTS = 24;
/** Each counts its rows under the lock. */
const KINDS = [
  ['iam/v1/applications', { custom_claims: {} }],
  ['v2/locations', { latitude: 1, longitude: 1 }],
  [
    'v1/compliance_policies',
    {
      compliance_type: 'COMPLIANCE_SINCE',
      description: 'since',
      asset_filter: [{ or: ['attributes.kind=x'] }],
      event_display_type: 'Checked',
      time_period_seconds: '60',
    },
  ],
] as const;

describe.skipIf(!serverUrl)('administrative acts of one tenancy', () => {
  let running: TestService;
  let elsewhere: Client;
  beforeAll(async () => {
    running = await startTestService();
    elsewhere = await running.client({ roles: ['OWNER'], otherTenancy: true });
  });
  afterAll(() => running?.close());

  it('take one connection together while they wait for a lock, so another tenancy reads, writes and acts meanwhile', async () => {
    const { owner } = running;
    const tenantId = String(decodeJwt(owner.token)['jit_tenant_id']).slice('tenant/'.length);
    const act = (caller: Client, number: number) => {
      const [path, members] = KINDS[number % KINDS.length]!;
      return caller.post(`/archivist/${path}`, { display_name: `number ${number}`, ...members });
    };
    let lock: HeldLock | undefined;
    try {
      const row = 'SELECT FROM archivist.tenancy WHERE tenant_id = $1 FOR NO KEY UPDATE';
      lock = await holdLock(running.environment['DATABASE_URL']!, row, [tenantId]);
      const acts = Array.from({ length: ACTS }, (_, number) => act(owner, number));
      await expect.poll(lock.waiting, { timeout: 20_000 }).toBeGreaterThanOrEqual(1);
      expect((await elsewhere.get('/archivist/v1/events?page_size=1')).status).toBe(200);
      expect((await elsewhere.post('/archivist/v2/assets', { attributes: {} })).status).toBe(200);
      for (const number of KINDS.keys()) expect((await act(elsewhere, number)).status).toBe(200);
      expect(await lock.waiting()).toBe(1);
      await lock.release();
      const statuses = (await Promise.all(acts)).map(({ status }) => status);
      expect(statuses).toEqual(Array(ACTS).fill(200));
    } finally {
      await lock?.release();
    }
  }, 60_000);
});

it('refuses an act with a time to retry when 256 of its tenancy wait, and none of another tenancy', async () => {
  const turns = createActTurns();
  let end: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    end = resolve;
  });
  const order: number[] = [];
  const first = turns.inTurn('t', () => gate);
  const waiting = Array.from({ length: 256 }, (_, place) => turns.inTurn('t', async () => void order.push(place)));
  await expect(turns.inTurn('t', async () => undefined)).rejects.toMatchObject({
    code: 'unavailable',
    headers: { 'retry-after': '2' },
  });
  expect(await turns.inTurn('u', async () => 'done')).toBe('done');
  expect(order).toEqual([]);
  end();
  await Promise.all([first, ...waiting]);
  expect(order).toEqual(waiting.map((_, place) => place));
});
