import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { knownMigrations, migrateTables } from '../../src/platform/postgres/migrate.js';
import {
  copiedTables,
  enterCopyScope,
  insertTableRows,
  tableRows,
} from '../../src/platform/postgres/table-copy-store.js';
import { onServer } from './engines.js';
import { serverUrl } from './prerequisites.js';

/**
 * Makes a database with the schema before a migration, and copies into it the rows that it has room for: tables and
 * columns that are newer are left behind.
 */
export async function copyToOlderSchema(
  url: string,
  migration: string,
): Promise<{ readonly url: string; remove(): Promise<void> }> {
  const name = `older_${randomUUID().replaceAll('-', '')}`;
  const older = Object.assign(new URL(serverUrl!), { pathname: `/${name}` }).href;
  await onServer(serverUrl!, `CREATE DATABASE ${name}`);
  const [from, to] = [new pg.Client(url), new pg.Client(older)];
  try {
    await Promise.all([from.connect(), to.connect()]);
    await migrateTables(to, (await knownMigrations()).indexOf(migration));
    for (const client of [from, to]) {
      await client.query('BEGIN');
      await enterCopyScope(client);
    }
    // What triggers would write is among the rows.
    await to.query('SET LOCAL session_replication_role = replica');
    for (const table of await copiedTables(to)) {
      await to.query(`DELETE FROM ${table.schema}.${table.name}`);
      for await (const rows of tableRows(from, table)) await insertTableRows(to, table, rows);
    }
    await to.query('COMMIT');
  } finally {
    await Promise.all([from.end(), to.end()]);
  }
  return { url: older, remove: async () => void (await onServer(serverUrl!, `DROP DATABASE ${name} WITH (FORCE)`)) };
}
