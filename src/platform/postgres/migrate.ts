import { fileURLToPath } from 'node:url';
import { runMigrations as migrateQueue } from 'bullmq';
import { runner } from 'node-pg-migrate';
import type { ClientBase } from 'pg';
import { SERVICE_ROLE } from './service-role.js';

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));
/** BullMQ's own schema; a queue creates its sequence there at first use. */
const QUEUE_SCHEMA = 'bullmq';
const QUEUE_GRANTS = `GRANT USAGE, CREATE ON SCHEMA ${QUEUE_SCHEMA} TO ${SERVICE_ROLE};
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${QUEUE_SCHEMA} TO ${SERVICE_ROLE};
  GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${QUEUE_SCHEMA} TO ${SERVICE_ROLE}`;

/** Held while the queue's schema is prepared: concurrent grants on one table fail. */
const QUEUE_LOCK = 0x71756575;

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Migrates our schema and the queue's to this version, one process at a time; up-to-date schemas stay unchanged. Needs
 * a connection of its own under a role that may create schemas and, once, the service's role.
 * @throws if the database has migrations that this version does not know
 */
export async function migrate(client: ClientBase): Promise<void> {
  await runner({
    dbClient: client,
    dir: MIGRATIONS,
    direction: 'up',
    schema: 'archivist',
    createSchema: true,
    migrationsSchema: 'archivist',
    migrationsTable: 'schema_migration',
    checkOrder: true,
    singleTransaction: true,
    advisoryLockMode: 'wait',
    logger: silent,
  });
  await client.query('SELECT pg_advisory_lock($1)', [QUEUE_LOCK]);
  try {
    await migrateQueue(client);
    await client.query(QUEUE_GRANTS);
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [QUEUE_LOCK]);
  }
}
