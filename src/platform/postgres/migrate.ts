import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runMigrations as migrateQueue } from 'bullmq';
import type { ClientBase } from 'pg';
import { createConcurrentIndexes } from './concurrent-indexes.js';
import { SERVICE_ROLE } from './service-role.js';
import { appliedMigrations, type OwnerClient } from './table-copy-store.js';
import { requireUsableServer, type ServerFacts } from './usable-server.js';

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));
/** BullMQ's own schema; a queue creates its sequence there at first use. */
const QUEUE_SCHEMA = 'bullmq';
const QUEUE_GRANTS = `GRANT USAGE, CREATE ON SCHEMA ${QUEUE_SCHEMA} TO ${SERVICE_ROLE};
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${QUEUE_SCHEMA} TO ${SERVICE_ROLE};
  GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${QUEUE_SCHEMA} TO ${SERVICE_ROLE}`;

/** Held while the queue's schema is prepared: concurrent grants on one table fail. */
const QUEUE_LOCK = 0x71756575;

const INSUFFICIENT_PRIVILEGE = '42501';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Migrates our schema and the queue's to this version, one process at a time; up-to-date schemas stay unchanged. Needs
 * a connection of its own under a role that may create schemas and, once, the service's role.
 * @throws {Error} if a newer version has migrated the database, or if the role may not make the service's
 */
export async function migrate(client: ClientBase): Promise<void> {
  const applied = await appliedMigrations(client);
  const known = await knownMigrations();
  requireKnownMigrations(applied, known);
  if (applied.length < known.length) await migrateTables(client).catch(explainRoles);
  await createConcurrentIndexes(client);
  await migrateQueueTables(client);
}

function explainRoles(error: Error & { code?: string }): never {
  if (error.code !== INSUFFICIENT_PRIVILEGE || !/\brole\b/.test(error.message)) throw error;
  throw new Error(
    `its role may not make the roles that the service works as, or grant them to itself (${error.message}): give it CREATEROLE, or let an administrator make them and grant them to it (docs/operate/configuration.md#postgresql)`,
    { cause: error },
  );
}

/**
 * Checks that the database needs no migration; changes nothing.
 * @throws {Error} saying whose database it is instead
 */
export async function requireMigrated(client: OwnerClient): Promise<void> {
  const applied = await appliedMigrations(client);
  const known = await knownMigrations();
  requireKnownMigrations(applied, known);
  if (applied.length === 0) throw new Error('no service has started on it');
  if (applied.length < known.length)
    throw new Error('an older version of vcon-archivist made it: use that version, or start this one on it first');
}

/** Returns the names of this version's migrations, in order. */
export async function knownMigrations(): Promise<string[]> {
  const names = await readdir(MIGRATIONS);
  return names
    .filter((name) => name.endsWith('.sql'))
    .map((name) => name.slice(0, -'.sql'.length))
    .sort();
}

function requireKnownMigrations(applied: readonly string[], known: readonly string[]): void {
  const newer = applied.find((name) => !known.includes(name));
  if (newer !== undefined)
    throw new Error(
      `a newer version of vcon-archivist has migrated it (${newer} is unknown to this version): start that version, or restore a copy that was made before the upgrade`,
    );
}

/** @throws {Error} saying what to change */
async function requireUsable(client: ClientBase): Promise<void> {
  const { rows } = await client.query<ServerFacts>(
    `SELECT current_setting('server_encoding') AS encoding, current_setting('server_version') AS version,
            current_setting('server_version_num')::int AS "versionNumber"`,
  );
  requireUsableServer(rows[0]!);
}

/**
 * Runs our migrations, at most `count` of them.
 * @throws {Error} if the database is new, and its encoding is not UTF-8 or its server too old
 */
export async function migrateTables(client: ClientBase, count?: number): Promise<void> {
  if ((await appliedMigrations(client)).length === 0) await requireUsable(client);
  // Only a new or an older database needs it, and loading it takes longer than all checks of a start.
  const { runner } = await import('node-pg-migrate');
  await runner({
    dbClient: client,
    dir: MIGRATIONS,
    direction: 'up',
    ...(count === undefined ? {} : { count }),
    schema: 'archivist',
    createSchema: true,
    migrationsSchema: 'archivist',
    migrationsTable: 'schema_migration',
    checkOrder: true,
    singleTransaction: true,
    advisoryLockMode: 'wait',
    logger: silent,
  });
}

/** Migrates the queue's schema. */
export async function migrateQueueTables(client: ClientBase): Promise<void> {
  await client.query('SELECT pg_advisory_lock($1)', [QUEUE_LOCK]);
  try {
    await migrateQueue(client);
    await client.query(QUEUE_GRANTS);
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [QUEUE_LOCK]);
  }
}
