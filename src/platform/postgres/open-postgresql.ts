import pg from 'pg';
import type { Logger } from '../logger.js';
import { migrate } from './migrate.js';
import { type PooledDatabase, pooledDatabase } from './pooled-database.js';
import { rowTypes } from './row-types.js';
import { requireBoundRole, SEARCH_PATH, SERVICE_ROLE } from './service-role.js';

const CONNECT_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** A process that was paused must not hold locks for ever. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/**
 * Opens a PostgreSQL: migrates it as the connecting role, then works as the service's role on every connection.
 * @throws when it cannot be reached, migrated, or bound by row-level security
 */
export async function openPostgresql(url: string, logger: Logger, connections = 10): Promise<PooledDatabase> {
  await asConnectingRole(url, migrate);
  const session = `-c role=${SERVICE_ROLE} -c search_path=${SEARCH_PATH.replaceAll(' ', '')}`;
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types: rowTypes,
    options: `${session} -c statement_timeout=${STATEMENT_TIMEOUT_MS} -c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`,
  });
  // The queue's statements find their tables by search path, and its listeners hold a connection each.
  const queuePool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    options: `-c role=${SERVICE_ROLE} -c search_path=bullmq`,
  });
  for (const each of [pool, queuePool])
    each.on('error', (error) => logger.warn({ err: error }, 'a database connection ended'));
  const database = pooledDatabase('PostgreSQL', pool, queuePool, async () => {
    await Promise.all([pool.end(), queuePool.end()]);
  });
  try {
    const client = await pool.connect();
    try {
      await requireBoundRole(client);
    } finally {
      client.release();
    }
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

async function asConnectingRole(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
