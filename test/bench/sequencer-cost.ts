import { copiedRowsMicros } from './copied-rows.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding, Found } from './goal-row.js';
import type { GoalId } from './goals.js';
import { allPublished, copyEvents, type Measuring, openMeasuring, record, until, used } from './logged-events.js';
import { rawSigns } from './raw-signatures.js';
import { startRole } from './service-under-test.js';

/** The first leaves of a backlog also pay for the start of the process, so they are not counted. */
const SKIPPED = 0.2;
/** An event is a leaf of its tenancy's log and, as a statement, one of the statement log: either may be ahead. */
const LEAVES_OF_AN_EVENT = 2;
/** Entries of one backlog that are followed. */
const FOLLOWED = 10_000;
/** One figure of so few entries differs by a fifth from the next, and a large backlog takes a minute to make. */
const MOST_BACKLOG_ROUNDS = 3;

/** What an event leaves behind. */
const ROWS_OF_AN_EVENT = ['asset_event', 'statement', 'leaf', 'node_page'];

const GOALS = ['processor-time-per-event', 'backlog-slowdown', 'tenancies-slowdown'] as const satisfies GoalId[];

/** What an event costs until it has its receipt, with little and much waiting, and over few and many tenancies. */
export const sequencerCost: GoalMeasure = {
  goals: GOALS,
  async measure(run) {
    const measuring = await openMeasuring(run);
    if ('notMeasured' in measuring) return new Map<GoalId, Found>(GOALS.map((id) => [id, measuring]));
    const rounds = await fromRequestToReceipt(measuring);
    return new Map<GoalId, Found>([
      ['processor-time-per-event', { rounds, floor: await signatureAndRows(measuring) }],
      ['backlog-slowdown', await withBacklogs(measuring)],
      ['tenancies-slowdown', await overTenancies(measuring)],
    ]);
  },
};

/** Each event has a statement of its own, and leaves in two logs. */
async function signatureAndRows({ engine }: Measuring): Promise<Finding['floor']> {
  const signature = 1e6 / rawSigns();
  const rows = await copiedRowsMicros(engine.environment['DATABASE_URL']!, 'asset_event', ROWS_OF_AN_EVENT);
  const why = `µs of one ES256 signature (${Math.round(signature)}), and of the server for the event's rows and their indexes`;
  return { figure: signature + (rows ?? 0), why };
}

/** How many leaves all logs have published together. */
async function published({ client }: Measuring): Promise<number> {
  const { rows } = await client.query<{ leaves: string | null }>(
    `SELECT sum(s.leaves) AS leaves FROM archivist.log l JOIN archivist.seal s
        ON s.tenant_id = l.tenant_id AND s.log_id = l.log_id AND s.seal_number = l.published_number`,
  );
  return Number(rows[0]?.leaves ?? 0);
}

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
  const rounds: number[] = [];
  for (let round = 0; round < Math.min(MOST_BACKLOG_ROUNDS, run.plan.rounds); round += 1) {
    const micros: number[] = [];
    for (const waiting of run.plan.backlogs) {
      micros.push(await costOfBacklog(measuring, waiting));
      run.say(`with ${waiting} events waiting: ${Math.round(micros.at(-1)!)} µs of processor time to log an event`);
      await clearIntake(measuring);
    }
    rounds.push(micros[1]! / micros[0]!);
  }
  return { rounds };
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
  const first = start + followed * SKIPPED * LEAVES_OF_AN_EVENT;
  const last = start + followed * (1 - SKIPPED) * LEAVES_OF_AN_EVENT;
  const ledger = await startRole(engine, 'ledger');
  try {
    await until(async () => (await published(measuring)) >= first);
    const [from, before] = [await published(measuring), await used(measuring, ledger.pid)];
    await until(async () => (await published(measuring)) >= last);
    const seconds = (await used(measuring, ledger.pid)) - before;
    return (seconds * 1e6 * LEAVES_OF_AN_EVENT) / ((await published(measuring)) - from);
  } finally {
    await ledger.stop();
  }
}

async function clearIntake({ client }: Measuring): Promise<void> {
  await client.query('DELETE FROM archivist.intake');
  await client.query('VACUUM archivist.intake');
}

const WAITING = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' LIMIT 1`;

/** Signatures under the first seal of a log with a hundred leaves: the seal, and one for each of the three peaks. */
const SIGNATURES_OF_A_LOG = 4;

/** The same events for one tenancy and for many, each tenancy with a log of its own. */
async function overTenancies(measuring: Measuring): Promise<Finding> {
  const { run } = measuring;
  const { tenancyEvents, tenancies } = run.plan;
  const seconds: number[] = [];
  for (const count of [1, tenancies]) {
    await makeTenancies(measuring, count, tenancyEvents / count);
    seconds.push(await secondsUntilSealed(measuring));
    run.say(
      `${tenancyEvents} events over ${count} tenancies: ${Math.round(tenancyEvents / seconds.at(-1)!)} sealed per second`,
    );
  }
  const [one, many] = [seconds[0]!, seconds[1]!];
  const signing = ((tenancies - 1) * SIGNATURES_OF_A_LOG) / rawSigns();
  const why = 'ratio if the other tenancies only cost the signatures under their seals';
  return { rounds: [one / many], floor: { figure: one / (one + signing), why } };
}

/**
 * The sequencers of a service that runs already wait for a lock, and the clock begins when it is released: the start of a
 * process does not count, and nothing is sealed before.
 */
async function secondsUntilSealed(measuring: Measuring): Promise<number> {
  const { client, engine } = measuring;
  await client.query('BEGIN');
  // Sequencers pass over logs whose rows are locked, but wait for the table.
  await client.query('LOCK TABLE archivist.log IN SHARE MODE');
  const ledger = await startRole(engine, 'ledger');
  try {
    await until(async () => (await client.query(WAITING)).rows.length > 0);
    const begun = performance.now();
    await client.query('COMMIT');
    await until(() => allPublished(measuring));
    return (performance.now() - begun) / 1000;
  } finally {
    await ledger.stop();
  }
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
