import { statfs } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { BenchRun } from './bench-run.js';
import { recordInBulk } from './bulk-client.js';
import type { Engine } from './engines.js';
import { assetEventItem } from './grown-events.js';
import { postmasterOf, processSeconds, serverSeconds } from './processor-time.js';
import type { ServiceUnderTest } from './service-under-test.js';

const POLL_MS = 20;

/** A database whose events are followed into their logs, and the processor time that they cost. */
export interface Measuring {
  readonly client: pg.Client;
  readonly postmaster: number;
  readonly engine: Engine;
  readonly run: BenchRun;
}

/** Opens an empty database on a server of this machine. @param room bytes that must be free where the server has its data */
export async function openMeasuring(run: BenchRun, room = 0): Promise<Measuring | { readonly notMeasured: string }> {
  if (!run.engines.includes('postgresql')) return { notMeasured: 'needs PostgreSQL' };
  const engine = await run.openEngine('postgresql');
  const client = new pg.Client({ connectionString: engine.environment['DATABASE_URL']! });
  await client.connect();
  run.onClose(() => client.end());
  const postmaster = await postmasterOf(client);
  if (postmaster === undefined) return { notMeasured: 'needs a PostgreSQL server on this machine' };
  const free = room && (await freeBytes(client));
  if (free < room)
    return { notMeasured: `needs ${gigabytes(room)} free for the server's data; ${gigabytes(free)} are` };
  return { client, postmaster, engine, run };
}

const gigabytes = (bytes: number) => `${Math.floor(bytes / 1e9)} GB`;

async function freeBytes(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
  const { bavail, bsize } = await statfs(rows[0]!.data_directory);
  return bavail * bsize;
}

/** Seconds of processor time that a process of ours and the database server have used so far. */
export async function used({ postmaster }: Measuring, pid: number): Promise<number> {
  return (await processSeconds(pid)) + (await serverSeconds(postmaster));
}

/** Waits until the condition holds. @throws {Error} after a quarter of an hour */
export async function until(condition: () => Promise<boolean>, everyMs = POLL_MS): Promise<void> {
  for (const end = Date.now() + 900_000; Date.now() < end; await wait(everyMs)) if (await condition()) return;
  throw new Error('the sequencer did not follow');
}

/** Whether every accepted entry is in its log and under a published seal. */
export async function allPublished({ client }: Measuring): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM archivist.intake UNION ALL SELECT FROM archivist.log WHERE published_size < size LIMIT 1`,
  );
  return rows.length === 0;
}

const events = (service: ServiceUnderTest, count: number) =>
  Array.from({ length: count }, (_, number) =>
    assetEventItem(number, service.target.assets[number % service.target.assets.length]!),
  );

/** Records so many events in bulk requests. */
export const record = (service: ServiceUnderTest, count: number) =>
  recordInBulk(service, '/archivist/v2/assets/-/events:bulk', events(service, count));

/**
 * Events that wait behind all others, made in the database: so many posts would take the longest part of the run. They are
 * stored in the order of their ids, as posted ones are. What the server still has to do about them itself (vacuum,
 * statistics, a checkpoint) is done before anything is measured. Only the intake has no statistics: a burst is there before
 * the server makes them.
 * @param after so many copies were made in this database before
 */
export async function copyEvents({ client }: Measuring, count: number, after = 0): Promise<void> {
  if (count === 0) return;
  await client.query(
    `WITH waiting AS (
       SELECT e.*, i.log_id AS own, s.tenant_id AS s_tenant, s.log_id AS s_log, s.entry_tenant_id AS s_entry_tenant
         FROM archivist.intake i JOIN archivist.asset_event e ON e.tenant_id = i.entry_tenant_id AND e.event_id = i.entry_id
         JOIN archivist.intake s ON s.entry_id = i.entry_id AND s.entry_kind = 'statement'
        WHERE i.entry_kind = 'asset_event' LIMIT 1),
     made AS (
       SELECT w.*, overlay(gen_random_uuid()::text placing 'ffff' || to_hex(n / 65536 + 4096) || '-' ||
                           lpad(to_hex(n % 65536), 4, '0') from 1)::uuid AS made_id
         FROM waiting w, generate_series($2::int + 1, $2::int + $1::int) n),
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
    [count, after],
  );
  await client.query('VACUUM (ANALYZE) archivist.asset_event');
  await client.query('ALTER TABLE archivist.intake SET (autovacuum_enabled = off)');
  await client.query('VACUUM archivist.intake');
  await client.query('CHECKPOINT');
}
