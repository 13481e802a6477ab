import { fileURLToPath } from 'node:url';
import { runMigrations as runQueueMigrations } from 'bullmq';
import { runner } from 'node-pg-migrate';
import type pg from 'pg';
import { SERVICE_ROLE } from './service-role.js';

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));
const QUEUE_SCHEMA = 'bullmq';

/**
 * Brings the schema to this version: our numbered SQL files, forward only, each once, in one transaction under an
 * advisory lock, then the queue's own. Processes that start together wait for each other.
 * Runs as the connecting role, which owns the tables.
 */
export async function migrate(client: pg.ClientBase): Promise<void> {
  await runner({
    dbClient: client as pg.Client,
    dir: MIGRATIONS,
    direction: 'up',
    migrationsTable: 'schema_migration',
    schema: 'archivist',
    createSchema: true,
    checkOrder: true,
    advisoryLockMode: 'wait',
    log: () => undefined,
  });
  await runQueueMigrations(client as unknown as Parameters<typeof runQueueMigrations>[0], QUEUE_SCHEMA);
  await client.query(
    `GRANT USAGE ON SCHEMA ${QUEUE_SCHEMA} TO ${SERVICE_ROLE};
     GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA ${QUEUE_SCHEMA} TO ${SERVICE_ROLE};
     GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${QUEUE_SCHEMA} TO ${SERVICE_ROLE};
     GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${QUEUE_SCHEMA} TO ${SERVICE_ROLE};`,
  );
}
