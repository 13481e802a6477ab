import pg from 'pg';
import type { Logger } from '../logger.js';
import { migrate, requireMigrated } from './migrate.js';
import { type DatabaseDisk, type PooledDatabase, pooledDatabase } from './pooled-database.js';
import { READ_TYPES } from './read-types.js';
import { ServerClient } from './server-client.js';
import { serverStream } from './server-stream.js';
import {
  enterServiceRole,
  enterStandardSession,
  QUEUE_SEARCH_PATH,
  requireOwnSession,
  requireRestrictedRole,
  SEARCH_PATH,
} from './service-role.js';
import { requireFinishedRestore } from './table-copy-store.js';
import { requireWritable } from './usable-server.js';

const CONNECT_TIMEOUT_MS = 10_000;
/** The server ends a statement after 30 s (`service-role.ts`); a server that does not even do that counts as lost. */
const ANSWER_TIMEOUT_MS = 35_000;
/** Idle connections are probed, so that a peer that is gone is noticed before a request needs it. */
const PROBE_AFTER_MS = 10_000;
const CONNECTIONS = 10;
/**
 * Each listening worker holds one connection. A process with all roles and its plugin has up to seventeen, and its queues
 * need some more to answer. They are opened when they are used.
 */
const QUEUE_CONNECTIONS = 24;

/** Connections that are used only after they have entered the service's role. */
function servicePool(url: string, logger: Logger, searchPath: string, options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    Client: ServerClient,
    connectionString: url,
    stream: serverStream,
    types: READ_TYPES,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBE_AFTER_MS,
    // The pool waits for the returned promise before it hands out the connection.
    onConnect(client) {
      client.on('error', () => undefined); // one that is out has no listener of the pool's, and also fails its query
      return enterServiceRole(client, searchPath);
    },
    ...options,
  });
  pool.on('error', (error) => {
    // The pool adds the connection, with its certificate and the key that cancels its queries.
    logger.warn({ err: Object.assign(error, { client: undefined }) }, 'an idle database connection ended');
  });
  return pool;
}

async function asConnectingRole(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    stream: serverStream,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => undefined); // a lost connection also fails the query that runs
  await client.connect();
  try {
    await enterStandardSession(client);
    await work(client);
  } finally {
    await client.end();
  }
}

/** How to open a PostgreSQL database. */
interface OpenOptions {
  /** Also opens a database into which a restore has not finished. */
  readonly restoring?: boolean;
  /** Refuses a database that is not of this version, instead of migrating it. */
  readonly asItIs?: boolean;
  readonly disk?: DatabaseDisk | undefined;
}

/**
 * Opens a PostgreSQL database: migrates it as the connecting role, then uses the service's role on every connection.
 * @throws if it cannot be reached or migrated, or if row-level security would not always apply to the service
 */
export async function openPostgresql(
  url: string,
  logger: Logger,
  { restoring, asItIs, disk }: OpenOptions = {},
): Promise<PooledDatabase> {
  await asConnectingRole(url, async (client) => {
    if (!asItIs) await requireWritable(client);
    if (!restoring) await requireFinishedRestore(client);
    await (asItIs ? requireMigrated(client) : migrate(client));
  });
  const pool = servicePool(url, logger, SEARCH_PATH, { max: CONNECTIONS, pipeline: true });
  const queuePool = servicePool(url, logger, QUEUE_SEARCH_PATH, { max: QUEUE_CONNECTIONS });
  const end = async (): Promise<void> => {
    await Promise.all([pool.end(), queuePool.end()]);
  };
  try {
    await requireRestrictedRole(pool);
    await requireOwnSession(pool);
  } catch (error) {
    await end();
    throw error;
  }
  return pooledDatabase({ engine: 'PostgreSQL', pool, queuePool, connections: CONNECTIONS, disk, end });
}
