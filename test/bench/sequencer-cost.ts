import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { BenchRun } from './bench-run.js';
import { recordInBulk } from './bulk-client.js';
import type { Engine } from './engines.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding, Found } from './goal-row.js';
import type { GoalId } from './goals.js';
import { assetEventItem } from './grown-events.js';
import { postmasterOf, processSeconds, serverSeconds } from './processor-time.js';
import { type ServiceUnderTest, startRole } from './service-under-test.js';

const POLL_MS = 20;
/** The first leaves of a backlog also pay for the start of the process, so they are not counted. */
const SKIPPED = 0.2;
/** Entries of one backlog that are followed. */
const FOLLOWED = 10_000;

const GOALS = ['processor-time-per-event', 'backlog-slowdown', 'tenancies-slowdown'] as const satisfies GoalId[];

/** What an event costs until it has its receipt, with little and much waiting, and over few and many tenancies. */
export const sequencerCost: GoalMeasure = {
  goals: GOALS,
  async measure(run) {
    const missing = (notMeasured: string) => new Map<GoalId, Found>(GOALS.map((id) => [id, { notMeasured }]));
    if (!run.engines.includes('postgresql')) return missing('needs PostgreSQL');
    const engine = await run.openEngine('postgresql');
    const client = new pg.Client({ connectionString: engine.environment['DATABASE_URL']! });
    await client.connect();
    run.onClose(() => client.end());
    const postmaster = await postmasterOf(client);
    if (postmaster === undefined) return missing('needs a PostgreSQL server on this machine');
    const measuring = { client, postmaster, engine, run };
    return new Map<GoalId, Found>([
      ['processor-time-per-event', { rounds: await fromRequestToReceipt(measuring) }],
      ['backlog-slowdown', await withBacklogs(measuring)],
      ['tenancies-slowdown', await overTenancies(measuring)],
    ]);
  },
};

interface Measuring {
  readonly client: pg.Client;
  readonly postmaster: number;
  readonly engine: Engine;
  readonly run: BenchRun;
}

/** Seconds of processor time that a process of ours and the database server have used so far. */
async function used({ postmaster }: Measuring, pid: number): Promise<number> {
  return (await processSeconds(pid)) + (await serverSeconds(postmaster));
}

/** How many leaves the logs have published that have the fewest of those with work; 0 without any. */
async function published({ client }: Measuring): Promise<bigint> {
  const { rows } = await client.query<{ leaves: string | null }>(
    `SELECT min(s.leaves) AS leaves FROM archivist.log l JOIN archivist.seal s
        ON s.tenant_id = l.tenant_id AND s.log_id = l.log_id AND s.seal_number = l.published_number
      WHERE l.leaves >= 100`,
  );
  return BigInt(rows[0]?.leaves ?? 0);
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 900_000; Date.now() < end; await wait(POLL_MS)) if (await condition()) return;
  throw new Error('the sequencer did not follow');
}

async function allPublished({ client }: Measuring): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM archivist.intake UNION ALL SELECT FROM archivist.log WHERE published_size < size LIMIT 1`,
  );
  return rows.length === 0;
}

const events = (service: ServiceUnderTest, count: number) =>
  Array.from({ length: count }, (_, number) =>
    assetEventItem(number, service.target.assets[number % service.target.assets.length]!),
  );

const record = (service: ServiceUnderTest, count: number) =>
  recordInBulk(service, '/archivist/v2/assets/-/events:bulk', events(service, count));

async function fromRequestToReceipt(measuring: Measuring): Promise<number[]> {
  const { engine, run } = measuring;
  const { bulkEvents } = run.plan;
  const service = await run.startOn(engine);
  const rounds: number[] = [];
  await record(service, bulkEvents);
  for (let round = 0; round < run.plan.rounds; round += 1) {
    await until(() => allPublished(measuring));
    const before = await used(measuring, service.pid);
    await record(service, bulkEvents);
    await until(() => allPublished(measuring));
    rounds.push((((await used(measuring, service.pid)) - before) * 1e6) / bulkEvents);
    run.say(`round ${round + 1}: ${Math.round(rounds.at(-1)!)} µs of processor time per event`);
  }
  await service.stop();
  return rounds;
}

async function withBacklogs(measuring: Measuring): Promise<Finding> {
  const { run } = measuring;
  const micros: number[] = [];
  for (const waiting of run.plan.backlogs) {
    micros.push(await costOfBacklog(measuring, waiting));
    run.say(`with ${waiting} events waiting: ${Math.round(micros.at(-1)!)} µs of processor time to log an event`);
    await clearIntake(measuring);
  }
  return { rounds: [micros[1]! / micros[0]!] };
}

/** Microseconds of the sequencer and the database server for each of the first events of so many that wait. */
async function costOfBacklog(measuring: Measuring, waiting: number): Promise<number> {
  const { engine, run } = measuring;
  const service = await run.startOn(engine, { ROLE: 'api' });
  const followed = Math.min(FOLLOWED, waiting);
  const start = await published(measuring);
  await record(service, followed);
  await service.stop();
  await copyEvents(measuring, waiting - followed);
  const first = start + BigInt(Math.floor(followed * SKIPPED));
  const last = start + BigInt(Math.floor(followed * (1 - SKIPPED)));
  const ledger = await startRole(engine, 'ledger');
  try {
    await until(async () => (await published(measuring)) >= first);
    const [from, before] = [await published(measuring), await used(measuring, ledger.pid)];
    await until(async () => (await published(measuring)) >= last);
    const seconds = (await used(measuring, ledger.pid)) - before;
    return (seconds * 1e6) / Number((await published(measuring)) - from);
  } finally {
    await ledger.stop();
  }
}

/** Events that wait behind all others, made in the database: so many posts would take the longest part of the run. */
async function copyEvents({ client }: Measuring, count: number): Promise<void> {
  if (count === 0) return;
  await client.query(
    `WITH waiting AS (
       SELECT e.*, i.log_id AS own, s.tenant_id AS s_tenant, s.log_id AS s_log, s.entry_tenant_id AS s_entry_tenant
         FROM archivist.intake i JOIN archivist.asset_event e ON e.tenant_id = i.entry_tenant_id AND e.event_id = i.entry_id
         JOIN archivist.intake s ON s.entry_id = i.entry_id AND s.entry_kind = 'statement'
        WHERE i.entry_kind = 'asset_event' LIMIT 1),
     made AS (
       SELECT w.*, overlay(gen_random_uuid()::text placing 'ffff' from 1)::uuid AS made_id
         FROM waiting w, generate_series(1, $1::int)),
     stored AS (
       INSERT INTO archivist.asset_event (tenant_id, event_id, asset_id, origin_tenant_id, operation, behaviour,
         event_attributes, asset_attributes, principal_declared, principal_accepted, timestamp_declared,
         timestamp_accepted, accepted_at, from_address)
       SELECT tenant_id, made_id, asset_id, origin_tenant_id, operation, behaviour, event_attributes, asset_attributes,
              principal_declared, principal_accepted, timestamp_declared, timestamp_accepted, accepted_at, from_address
         FROM made)
     INSERT INTO archivist.intake (tenant_id, log_id, entry_id, entry_kind, entry_tenant_id)
     SELECT tenant_id, own, made_id, 'asset_event', tenant_id FROM made
     UNION ALL SELECT s_tenant, s_log, made_id, 'statement', s_entry_tenant FROM made`,
    [count],
  );
}

async function clearIntake({ client }: Measuring): Promise<void> {
  await client.query('DELETE FROM archivist.intake');
  await client.query('VACUUM (ANALYZE) archivist.intake');
}

/** The same events for one tenancy and for many, each tenancy with a log of its own. */
async function overTenancies(measuring: Measuring): Promise<Finding> {
  const { engine, run } = measuring;
  const { tenancyEvents } = run.plan;
  const rates: number[] = [];
  for (const tenancies of [1, run.plan.tenancies]) {
    await makeTenancies(measuring, tenancies, tenancyEvents / tenancies);
    const ledger = await startRole(engine, 'ledger');
    const begun = performance.now();
    try {
      await until(() => allPublished(measuring));
      rates.push((tenancyEvents * 1000) / (performance.now() - begun));
      run.say(`${tenancyEvents} events over ${tenancies} tenancies: ${Math.round(rates.at(-1)!)} sealed per second`);
    } finally {
      await ledger.stop();
    }
  }
  return { rounds: [rates[1]! / rates[0]!] };
}

async function makeTenancies({ client }: Measuring, count: number, each: number): Promise<void> {
  await client.query(
    `WITH event AS (SELECT e.*, l.massif_height FROM archivist.asset_event e JOIN archivist.log l
                      ON l.tenant_id = e.tenant_id AND l.log_id = e.tenant_id LIMIT 1),
     tenancy AS (SELECT gen_random_uuid() AS id FROM generate_series(1, $1::int)),
     logs AS (
       INSERT INTO archivist.log (tenant_id, log_id, structure, name, massif_height, created_at)
       SELECT t.id, t.id, 'MMR_SHA256', 'tenant/' || t.id, e.massif_height, now() FROM tenancy t, event e),
     made AS (SELECT t.id, gen_random_uuid() AS made_id FROM tenancy t, generate_series(1, $2::int)),
     stored AS (
       INSERT INTO archivist.asset_event (tenant_id, event_id, asset_id, origin_tenant_id, operation, behaviour,
         event_attributes, asset_attributes, principal_declared, principal_accepted, timestamp_declared,
         timestamp_accepted, accepted_at, from_address)
       SELECT m.id, made_id, asset_id, m.id, operation, behaviour, event_attributes, asset_attributes,
              principal_declared, principal_accepted, timestamp_declared, timestamp_accepted, accepted_at, from_address
         FROM made m, event)
     INSERT INTO archivist.intake (tenant_id, log_id, entry_id, entry_kind, entry_tenant_id)
     SELECT id, id, made_id, 'asset_event', id FROM made`,
    [count, each],
  );
}
