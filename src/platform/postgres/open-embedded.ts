import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import pg from 'pg';
import { DurableFiles } from './durable-files.js';
import { lockFolder } from './folder-lock.js';
import { migrate } from './migrate.js';
import { type PooledDatabase, pooledDatabase } from './pooled-database.js';
import { rowTypes } from './row-types.js';
import { requireBoundRole, SEARCH_PATH, SERVICE_ROLE } from './service-role.js';

/** Long enough for whatever is ahead in the queue, short enough to tell a deadlock of our own. */
const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Opens the embedded PostgreSQL (PGlite) in a folder that this process alone uses. One session serves everything, so
 * transactions wait for each other, and the queue shares them. As durable as a server: every commit is synced.
 * @throws {Error} when another process uses the folder
 */
export async function openEmbedded(
  folder: string,
  files = new DurableFiles(join(folder, 'postgres')),
): Promise<PooledDatabase> {
  const lock = await lockFolder(folder);
  try {
    const engine = await PGlite.create({
      fs: files,
      // Without -F, commits are synced; with fdatasync as the method, the engine was seen not to call it at every commit.
      startParams: [...PGlite.defaultStartParams.filter((option) => option !== '-F'), '-c', 'wal_sync_method=fsync'],
    });
    const pool = new pg.Pool({
      ...createPgConfig(engine),
      max: 1,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      types: rowTypes,
    });
    const client = await pool.connect();
    try {
      await migrate(client);
      await client.query(`SET search_path TO ${SEARCH_PATH}`);
      await client.query(`SET ROLE ${SERVICE_ROLE}`);
      await requireBoundRole(client);
    } finally {
      client.release();
    }
    return pooledDatabase('embedded PostgreSQL', pool, queuePool(engine, pool), async () => {
      await pool.end();
      await engine.close();
      await lock.release();
    });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/**
 * What BullMQ takes for a pool: every query waits its turn at the one connection, and a "client" that listens holds
 * none; notifications come from the engine itself.
 */
function queuePool(engine: PGlite, pool: pg.Pool): pg.Pool {
  const query = (text: string, values?: unknown[]) => pool.query(text, values);
  return Object.assign(new EventEmitter(), {
    options: { keepAlive: true },
    query,
    end: async () => undefined,
    connect: async () => {
      const client = new EventEmitter();
      const stop = engine.onNotification((channel, payload) => client.emit('notification', { channel, payload }));
      return Object.assign(client, { query, release: stop });
    },
  }) as unknown as pg.Pool;
}
