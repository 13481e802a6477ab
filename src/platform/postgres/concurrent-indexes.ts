import { setTimeout as wait } from 'node:timers/promises';
import type { ClientBase } from 'pg';

/** Indexes of large tables: made while others write, outside the transaction of the migrations. */
const INDEXES = {
  asset_event_out_of_step:
    'ON archivist.asset_event (tenant_id, event_id) WHERE archivist.out_of_step(event_id, accepted_at)',
} as const;

/** Held while indexes are made. */
const INDEX_LOCK = 0x696e6478;
const LOCK_RETRY_MS = 100;

/**
 * Creates the indexes that are missing, one process at a time. PostgreSQL then waits for transactions that were open
 * before, and blocks no write. What a crash leaves behind is an invalid index, which is made again.
 */
export async function createConcurrentIndexes(client: ClientBase): Promise<void> {
  if ((await missingIndexes(client)).length === 0) return;
  // Polled: a process that waits inside a statement is one that the creation would wait for.
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [INDEX_LOCK]);
    if (rows[0]!.locked) break;
    await wait(LOCK_RETRY_MS);
  }
  try {
    for (const name of await missingIndexes(client)) {
      await client.query(`DROP INDEX CONCURRENTLY IF EXISTS archivist.${name}`);
      await client.query(`CREATE INDEX CONCURRENTLY ${name} ${INDEXES[name]}`);
    }
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [INDEX_LOCK]);
  }
}

/** Those that are not there, or not complete. */
async function missingIndexes(client: ClientBase): Promise<(keyof typeof INDEXES)[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE c.relnamespace = 'archivist'::regnamespace AND i.indisvalid AND c.relname = ANY ($1::text[])`,
    [Object.keys(INDEXES)],
  );
  const valid = new Set(rows.map(({ name }) => name));
  return (Object.keys(INDEXES) as (keyof typeof INDEXES)[]).filter((name) => !valid.has(name));
}
