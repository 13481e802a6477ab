import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ClientBase } from 'pg';

/** One file for each index of a large table, named like the index. */
const INDEXES = fileURLToPath(new URL('../../migrations/indexes', import.meta.url));

/** Held while indexes are made. */
const INDEX_LOCK = 0x696e6478;
const LOCK_RETRY_MS = 100;

/**
 * Creates the missing indexes of large tables, outside the transaction of the migrations and one process at a time.
 * PostgreSQL then waits for transactions that were open before, and blocks no write. What a crash leaves behind is an
 * invalid index, which is made again.
 */
export async function createConcurrentIndexes(client: ClientBase): Promise<void> {
  const names = await indexNames();
  if ((await missingIndexes(client, names)).length === 0) return;
  // Polled: a process that waits inside a statement is one that the creation would wait for.
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [INDEX_LOCK]);
    if (rows[0]!.locked) break;
    await wait(LOCK_RETRY_MS);
  }
  try {
    for (const name of await missingIndexes(client, names)) {
      await client.query(`DROP INDEX CONCURRENTLY IF EXISTS archivist.${name}`);
      for (const statement of await statementsOf(name)) await client.query(statement);
    }
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [INDEX_LOCK]);
  }
}

async function indexNames(): Promise<string[]> {
  return (await readdir(INDEXES)).map((file) => file.slice(0, -'.sql'.length)).sort();
}

/** One by one: several statements in one query would be a transaction, in which no index is made concurrently. */
async function statementsOf(name: string): Promise<string[]> {
  const text = await readFile(join(INDEXES, `${name}.sql`), 'utf8');
  return text
    .split(/;\s*\n/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/** Those that are not there, or not complete. */
async function missingIndexes(client: ClientBase, names: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE c.relnamespace = 'archivist'::regnamespace AND i.indisvalid AND c.relname = ANY ($1::text[])`,
    [names],
  );
  const valid = new Set(rows.map(({ name }) => name));
  return names.filter((name) => !valid.has(name));
}
