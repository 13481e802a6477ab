import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEPT_PLANS } from '../../src/platform/postgres/kept-plans.js';
import { rowsById } from '../../src/platform/postgres/rows-by-id.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { engines } from '../support/engines.js';

/** Where entries are in their log. */
const PLACES = 'SELECT leaf.entry_id, leaf.leaf_index, leaf.idtimestamp';

let running: TestService;
beforeAll(async () => {
  // On the embedded engine, which has one session: its prepared statements can be seen from another transaction.
  running = await startTestService({}, engines()[0]);
});
afterAll(() => running?.close());

/** Prepared statements that begin like this, with how often a plan of theirs was made for its values, and used again. */
function prepared(beginning: string): Promise<{ name: string; made: bigint; used_again: bigint }[]> {
  return running.service.parts.database.inTransaction('system', (tx) =>
    tx.query(
      `SELECT name, custom_plans AS made, generic_plans AS used_again FROM pg_prepared_statements
        WHERE starts_with(statement, $1)`,
      [beginning],
    ),
  );
}

/** The plan that is kept for a statement of so many values. */
async function keptPlan(name: string, values: number): Promise<string> {
  const scope = { system: 'writing' as const, settings: KEPT_PLANS };
  const rows = await running.service.parts.database.inTransaction(scope, (tx) =>
    tx.query<Record<string, string>>(`EXPLAIN EXECUTE ${name}(${Array(values).fill('NULL').join()})`),
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

async function recordedEvent(changes: Record<string, string> = {}): Promise<string> {
  const { owner } = running;
  const asset = await owner.post('/archivist/v2/assets', { behaviours: ['RecordEvidence'], attributes: {} });
  const path = `/archivist/v2/${String(asset.json['identity'])}/events`;
  const event = {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: { a: 'b' },
    asset_attributes: changes,
  };
  const { status, json } = await owner.post(path, event);
  expect(status).toBe(200);
  return `/archivist/v2/${String(json['identity'])}`;
}

/** An event that is in its log: what is read with it depends on that. */
async function confirmedEvent(): Promise<string> {
  const path = await recordedEvent();
  const status = async () => (await running.owner.get(path)).json['confirmation_status'];
  await expect.poll(status, { timeout: 40_000 }).toBe('CONFIRMED');
  return path;
}

it('accepts events with plans that were made before, which read assets by their keys however few there were', async () => {
  await running.asOwner('ANALYZE archivist.asset');
  for (let count = 0; count < 5; count += 1) await recordedEvent();
  const [insert] = await prepared('INSERT INTO archivist.asset_event ');
  expect(insert!.used_again).toBeGreaterThan(0n);
  const reads = (await prepared('SELECT a.tenant_id')).filter(({ used_again }) => used_again > 0n);
  expect(reads).toHaveLength(1);
  const plan = await keptPlan(reads[0]!.name, 2);
  expect(plan).toContain('Index Scan using asset_pkey');
  expect(plan).not.toContain('Seq Scan');
});

it('changes assets with plans that were made before, which find an asset and its newest event by their keys', async () => {
  for (let count = 0; count < 5; count += 1) await recordedEvent({ colour: 'red' });
  for (const { beginning, index } of [
    { beginning: 'SELECT a.asset_id\n', index: 'asset_pkey' },
    { beginning: 'SELECT wanted.tenant_id', index: 'asset_event_of_asset' },
  ]) {
    const [statement] = await prepared(beginning);
    expect(statement!.used_again).toBeGreaterThan(0n);
    const plan = await keptPlan(statement!.name, 2);
    expect([...plan.matchAll(/ Scan(?: Backward)? using (\w+)/g)].map(([, used]) => used)).toEqual([index]);
    expect(plan).toMatch(/Index Cond: .*\(asset_id >= .*\(asset_id <= /);
  }
});

it.each([
  ['asset', 'asset_id', 'uuid', 'asset_pkey'],
  ['asset_event', 'event_id', 'uuid', 'asset_event_pkey'],
  ['asset_free_event', 'event_id', 'uuid', 'asset_free_event_pkey'],
  ['idempotency', 'scope', 'bytea', 'idempotency_pkey'],
  ['registration', 'statement_hash', 'bytea', 'registration_pkey'],
  ['registration', 'event_id', 'uuid', 'registration_tenant_id_event_id_key'],
] as const)(
  'looks up each %s by the index that begins with tenancy and %s, without statistics too',
  async (table, id, type, index) => {
    const scope = { system: 'reading' as const, settings: KEPT_PLANS };
    const plan = await running.service.parts.database.inTransaction(scope, (tx) =>
      tx.query<Record<string, string>>(`EXPLAIN SELECT * ${rowsById(table, id, 'r', type)}`, [[], []]),
    );
    const scans = plan.flatMap((row) => / Scan using (\w+)/.exec(row['QUERY PLAN']!)?.[1] ?? []);
    expect(scans).toEqual([index]);
  },
);

it('reads an event by its id with plans that were made before, by keys however few rows there were', async () => {
  const event = await confirmedEvent();
  await running.asOwner('ANALYZE');
  const read = () => running.owner.get(event);
  // A statement has a name, and with it a plan to keep, from the fourth time on.
  for (let count = 0; count < 5; count += 1) expect((await read()).status).toBe(200);
  for (const { beginning, values } of [
    { beginning: 'SELECT e.tenant_id', values: 2 },
    { beginning: PLACES, values: 4 },
  ]) {
    const [statement] = await prepared(beginning);
    expect(statement).toMatchObject({ made: 0n });
    expect(await keptPlan(statement!.name, values)).not.toContain('Seq Scan');
  }
});

it('reads what is on a page of a list with plans that were made before, and plans the list itself for its values', async () => {
  await confirmedEvent();
  await running.asOwner('ANALYZE');
  const lists = ['assets?page_size=1', 'assets/-/events?page_size=1'];
  for (let count = 0; count < 5; count += 1)
    for (const list of lists) expect((await running.owner.get(`/archivist/v2/${list}`)).status).toBe(200);
  for (const beginning of [PLACES, 'SELECT wanted.event_id']) {
    const [statement] = await prepared(beginning);
    expect(statement).toMatchObject({ made: 0n });
  }
  // Both lists, and the assets of the events.
  const portions = (await prepared('SELECT * FROM')).map(({ made }) => made > 0n);
  expect(portions.sort()).toEqual([false, true, true]);
});

it('keeps the plans of the functions that each read of an Owner calls', async () => {
  const rows = await running.service.parts.database.inTransaction('system', (tx) =>
    tx.query(
      `SELECT proname, proconfig FROM pg_proc WHERE pronamespace = 'archivist'::regnamespace AND proname = ANY ($1)
        ORDER BY proname`,
      [['confirmed_shares', 'past_sharers']],
    ),
  );
  const kept = Object.entries(KEPT_PLANS).map(([name, value]) => `${name}=${value}`);
  expect(rows).toEqual([
    { proname: 'confirmed_shares', proconfig: kept },
    { proname: 'past_sharers', proconfig: kept },
  ]);
});
