import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { knownMigrations, migrateTables } from '../../src/platform/postgres/migrate.js';
import { onServer } from '../support/engines.js';
import { serverUrl } from '../support/prerequisites.js';

const FIXTURES = fileURLToPath(new URL('../../fixtures/upgrade', import.meta.url));
const MIGRATIONS = fileURLToPath(new URL('../../src/migrations', import.meta.url));

/** Passes over a table that are short on a million rows, and why. */
const SHORT_PASSES: Readonly<Record<string, readonly string[]>> = {
  // A table with one row for each log; the index holds none of a million that run. Measured: 0.34 s.
  '000047_halted_logs': ['log: builds the index log_halted'],
  // No released version has rows in these tables: 000050 makes them.
  '000051_webhook_notices': [
    'webhook: builds the index webhook_of_compliance',
    'webhook_delivery: builds the index webhook_delivery_of_webhook',
  ],
  // Nor in these: 000046 makes them.
  '000058_merged_past_grants': [
    'past_grant: builds the index past_grant_once',
    'past_grant: writes rows',
    'past_grant_asset: writes rows',
  ],
};

/** What a migration may have done to tables that were there before, and takes longer the more rows they have. */
const STATE = `
  SELECT c.oid::int AS id, c.relname AS name, pg_relation_filenode(c.oid)::int AS file,
    ARRAY(SELECT i.relname::text FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid WHERE x.indrelid = c.oid) AS indexes,
    ARRAY(SELECT k.conname::text FROM pg_constraint k WHERE k.conrelid = c.oid AND k.convalidated AND k.contype IN ('c', 'f')) AS constraints,
    ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.attnotnull) AS required,
    ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0) AS columns,
    ARRAY(SELECT l.mode FROM pg_locks l WHERE l.relation = c.oid AND l.pid = pg_backend_pid() AND l.granted) AS locks
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'archivist' AND c.relkind = 'r'
  ORDER BY c.relname`;

interface Table {
  readonly id: number;
  readonly name: string;
  readonly file: number;
  readonly indexes: readonly string[];
  readonly constraints: readonly string[];
  readonly required: readonly string[];
  readonly columns: readonly string[];
  readonly locks: readonly string[];
}

function passesOver(before: Table, after: Table): string[] {
  const fresh = (of: 'indexes' | 'constraints') => after[of].filter((name) => !before[of].includes(name));
  const newlyRequired = after.required.filter(
    (column) => before.columns.includes(column) && !before.required.includes(column),
  );
  const does = [
    ...(after.file === before.file ? [] : ['rewrites it']),
    ...fresh('indexes').map((name) => `builds the index ${name}`),
    ...fresh('constraints').map((name) => `checks every row for ${name}`),
    ...newlyRequired.map((column) => `checks every row for ${column}`),
    // Writes of rows take this lock.
    ...(after.locks.includes('RowExclusiveLock') ? ['writes rows'] : []),
  ];
  return does.map((what) => `${before.name}: ${what}`);
}

/** How many migrations the newest released version has. */
async function released(): Promise<number> {
  const counts = await Promise.all(
    (await readdir(FIXTURES)).map(async (version) => {
      const copies = join(FIXTURES, version, 'copies');
      const [copy] = await readdir(copies);
      const manifest = JSON.parse(await readFile(join(copies, copy!, 'manifest.json'), 'utf8'));
      return (manifest.migrations as string[]).length;
    }),
  );
  return Math.max(...counts);
}

describe.runIf(serverUrl)('a migration of a released schema', () => {
  const database = `locks_${randomUUID().replaceAll('-', '')}`;
  let client: pg.Client;
  const tables = async () => (await client.query<Table>(STATE)).rows;

  beforeAll(async () => {
    await onServer(serverUrl!, `CREATE DATABASE ${database}`);
    client = new pg.Client(Object.assign(new URL(serverUrl!), { pathname: `/${database}` }).href);
    await client.connect();
    await migrateTables(client, await released());
  });
  afterAll(async () => {
    await client?.end();
    await onServer(serverUrl!, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
  });

  /** Runs it in a transaction of its own, and resolves with what it does to every row of a table that was there. */
  async function passes(sql: string, end: 'COMMIT' | 'ROLLBACK'): Promise<string[]> {
    const before = await tables();
    await client.query('BEGIN');
    await client.query(sql);
    const after = new Map((await tables()).map((table) => [table.id, table]));
    await client.query(end);
    return before.flatMap((table) => (after.has(table.id) ? passesOver(table, after.get(table.id)!) : []));
  }

  it('makes no pass over the rows of a table while it holds a lock that blocks writes', async () => {
    for (const name of (await knownMigrations()).slice(await released())) {
      const sql = await readFile(join(MIGRATIONS, `${name}.sql`), 'utf8');
      expect([name, await passes(sql, 'COMMIT')]).toEqual([name, SHORT_PASSES[name] ?? []]);
    }
  });

  it.each([
    ['ALTER TABLE archivist.leaf ALTER COLUMN leaf_index TYPE numeric', 'leaf: rewrites it'],
    ['CREATE INDEX slow ON archivist.leaf (entry_kind)', 'leaf: builds the index slow'],
    ['ALTER TABLE archivist.leaf ADD CONSTRAINT slow CHECK (leaf_index >= 0)', 'leaf: checks every row for slow'],
    ['ALTER TABLE archivist.leaf ALTER COLUMN trie_key SET NOT NULL', 'leaf: checks every row for trie_key'],
    ["UPDATE archivist.leaf SET entry_kind = 'statement'", 'leaf: writes rows'],
  ])('is found out by this test when it does: %s', async (sql, found) => {
    expect(await passes(sql, 'ROLLBACK')).toContain(found);
  });

  it.each([
    "ALTER TABLE archivist.leaf ADD COLUMN quick text DEFAULT 'x' NOT NULL",
    'ALTER TABLE archivist.leaf ADD CONSTRAINT quick CHECK (leaf_index >= 0) NOT VALID',
  ])('may do what takes no longer on a million rows: %s', async (sql) => {
    expect(await passes(sql, 'ROLLBACK')).toEqual([]);
  });
});
