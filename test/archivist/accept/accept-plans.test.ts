import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../../api/test-service.js';
import { engines } from '../../support/engines.js';

let running: TestService;
beforeAll(async () => {
  // On the embedded engine, which has one session: its prepared statements can be seen from another transaction.
  running = await startTestService({}, engines()[0]);
});
afterAll(() => running?.close());

/** Prepared statements that begin like this, with how often a plan of theirs was used again. */
function prepared(beginning: string): Promise<{ name: string; used_again: bigint }[]> {
  return running.service.parts.database.inTransaction('system', (tx) =>
    tx.query('SELECT name, generic_plans AS used_again FROM pg_prepared_statements WHERE starts_with(statement, $1)', [
      beginning,
    ]),
  );
}

/** The plan that is kept for a statement of two values. */
async function keptPlan(name: string): Promise<string> {
  const scope = { system: 'writing' as const, settings: { plan_cache_mode: 'force_generic_plan' } };
  const rows = await running.service.parts.database.inTransaction(scope, (tx) =>
    tx.query<Record<string, string>>(`EXPLAIN EXECUTE ${name}('{}', '{}')`),
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

it('accepts events with plans that were made before, which read assets by their keys however few there were', async () => {
  const { owner } = running;
  const asset = await owner.post('/archivist/v2/assets', { behaviours: ['RecordEvidence'], attributes: {} });
  await running.asOwner('ANALYZE archivist.asset');
  const path = `/archivist/v2/${String(asset.json['identity'])}/events`;
  const event = {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: { a: 'b' },
    asset_attributes: {},
  };
  for (let count = 0; count < 10; count += 1) expect((await owner.post(path, event)).status).toBe(200);
  const [insert] = await prepared('INSERT INTO archivist.asset_event ');
  expect(insert!.used_again).toBeGreaterThan(0n);
  const reads = (await prepared('SELECT a.tenant_id')).filter(({ used_again }) => used_again > 0n);
  expect(reads).toHaveLength(1);
  const plan = await keptPlan(reads[0]!.name);
  expect(plan).toContain('Index Scan using asset_pkey');
  expect(plan).not.toContain('Seq Scan');
});
