import { fileURLToPath } from 'node:url';
import { runMigrations as migrateQueue } from 'bullmq';
import { runner } from 'node-pg-migrate';
import type { ClientBase } from 'pg';
import { SERVICE_ROLE } from './service-role.js';

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));
/** BullMQ's own schema; a queue makes its sequence there when it is first used. */
const QUEUE_SCHEMA = 'bullmq';
const QUEUE_GRANTS = `GRANT USAGE, CREATE ON SCHEMA ${QUEUE_SCHEMA} TO ${SERVICE_ROLE};
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${QUEUE_SCHEMA} TO ${SERVICE_ROLE};
  GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${QUEUE_SCHEMA} TO ${SERVICE_ROLE}`;

/** Held while the queue's schema is looked at: two who grant on one table at the same moment refuse each other. */
const QUEUE_LOCK = 0x71756575;

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Brings our schema and the queue's up to date, one process at a time; what is up to date is left alone. Needs a
 * connection of its own under a role that may create schemas and, once, the service's role.
 * @throws when the database has migrations that this version does not know
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
