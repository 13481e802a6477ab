import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService, template } from './test-service.js';

let running: TestService;
beforeAll(async () => {
  running = await startTestService();
});
afterAll(() => running?.close());

const LONG = 'é'.repeat(20_000);

/** How long each waiting entry of an event is said to be. */
async function lengths(identity: string): Promise<Record<string, number>> {
  const rows = await running.service.parts.database.inTransaction('system', (tx) =>
    tx.query<{ entry_kind: string; entry_length: number }>(
      'SELECT entry_kind, entry_length FROM archivist.intake WHERE entry_id = $1',
      [identity.split('/').at(-1)],
    ),
  );
  return Object.fromEntries(rows.map((row) => [row.entry_kind, row.entry_length]));
}

it('an accepted event tells its logs how long it is, so that a batch of long ones ends in time', async () => {
  const { owner } = running;
  const asset = await owner.post('/archivist/v2/assets', { behaviours: ['RecordEvidence'], attributes: {} });
  await running.asOwner(
    `UPDATE archivist.log SET lease_holder = 'another', lease_until = clock_timestamp() + interval '1 hour'`,
  );
  const ofAsset = await owner.post(`/archivist/v2/${asset.json['identity']}/events`, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: { ...template('vcon://0190e3a5-0000-7000-8000-000000000002'), LONG },
    asset_attributes: { LONG },
  });
  expect(ofAsset.status).toBe(200);
  const both = await lengths(String(ofAsset.json['identity']));
  expect(Object.keys(both).sort()).toEqual(['asset_event', 'statement']);
  for (const length of Object.values(both)) {
    expect(length).toBeGreaterThan(40_000);
    expect(length).toBeLessThan(42_000);
  }
  const free = await owner.post('/archivist/v1/events', { attributes: { LONG } });
  expect(free.status).toBe(200);
  const one = await lengths(String(free.json['identity']));
  expect(one).toEqual({ asset_free_event: 20_011, statement: 20_011 });
});
