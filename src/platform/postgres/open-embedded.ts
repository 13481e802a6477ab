import { EventEmitter } from 'node:events';
import { constants } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { DiskFull } from '../disk/disk-full.js';
import type { DurableFilesOptions } from './durable-files.js';
import { keepCheckpoints } from './embedded-checkpoints.js';
import { makeCluster } from './embedded-cluster.js';
import { keepStatistics } from './embedded-statistics.js';
import { lockFolder } from './folder-lock.js';
import { migrate, requireMigrated } from './migrate.js';
import { type DatabaseDisk, isReadOnly, type PooledDatabase, pooledDatabase } from './pooled-database.js';
import { READ_TYPES } from './read-types.js';
import { enterServiceRole, requireRestrictedRole, SEARCH_PATH } from './service-role.js';
import { type Engine, startEngine } from './start-engine.js';
import { requireFinishedRestore } from './table-copy-store.js';

/** There is one connection: a longer wait means that the caller is deadlocked on itself. */
const CONNECT_TIMEOUT_MS = 10_000;

/** A start after a crash replays so much in a few seconds, and a checkpoint holds up the one session for less than that. */
const CHECKPOINT_AFTER = 128 * 1024 * 1024;

/** Path of the cluster within the folder of the embedded database. */
export const CLUSTER = 'postgres';

/** How to open an embedded database. */
interface EmbeddedOptions {
  /** Also opens a database into which a restore has not finished. */
  readonly restoring?: boolean;
  /** Refuses a database that is not of this version, instead of migrating it. */
  readonly asItIs?: boolean;
  readonly disk?: DatabaseDisk | undefined;
  readonly sync?: DurableFilesOptions['sync'];
  /** How often tables that have grown are analysed, and the write-ahead log is looked at. */
  readonly upkeepEveryMs?: number;
  /** Bytes of the write-ahead log after which there is a checkpoint. */
  readonly checkpointAfter?: number;
}

/**
 * Opens the embedded PostgreSQL (PGlite) in a folder that only this process may use; creates it at the first start. One
 * session serves everything: transactions wait for each other, and the queue takes its turn among them. A confirmed
 * commit is on disk, as with a server.
 * @throws {FolderLocked} if another process has locked the folder
 */
export async function openEmbedded(
  folder: string,
  {
    restoring = false,
    asItIs = false,
    disk,
    sync,
    upkeepEveryMs = 60_000,
    checkpointAfter = CHECKPOINT_AFTER,
  }: EmbeddedOptions = {},
): Promise<PooledDatabase> {
  // It loads its program meanwhile.
  const loading = startEngine(sync);
  let lock: Awaited<ReturnType<typeof lockFolder>> | undefined;
  const release = async (): Promise<void> => lock?.release();
  try {
    lock = await lockFolder(folder);
    const cluster = join(folder, CLUSTER);
    await makeCluster(cluster);
    const engine = await loading.open(cluster);
    return await onEngine(engine, { cluster, restoring, asItIs, disk, upkeepEveryMs, checkpointAfter, release });
  } catch (error) {
    await loading.close().catch(() => undefined);
    await release();
    throw error;
  }
}

interface EngineParts {
  readonly cluster: string;
  readonly restoring: boolean;
  readonly asItIs: boolean;
  readonly disk: DatabaseDisk | undefined;
  readonly upkeepEveryMs: number;
  readonly checkpointAfter: number;
  release(): Promise<void>;
}

async function onEngine(engine: Engine, parts: EngineParts): Promise<PooledDatabase> {
  const owner = new pg.Client(engine.config);
  await owner.connect();
  if (!parts.restoring) await requireFinishedRestore(owner);
  await (parts.asItIs ? requireMigrated(owner) : migrate(owner));
  await owner.end();
  const notifications = new EventEmitter().setMaxListeners(0);
  const pool = new pg.Pool({
    ...engine.config,
    types: READ_TYPES,
    max: 1,
    pipeline: true,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    onConnect(client) {
      client.on('notification', (notification) => notifications.emit('notification', notification));
      return enterSession(client);
    },
  });
  await requireRestrictedRole(pool);
  const endUpkeep = beginUpkeep(pool, parts);
  return pooledDatabase({
    engine: 'embedded PostgreSQL',
    pool,
    queuePool: queuePool(pool, notifications, parts.disk),
    connections: 1,
    disk: parts.disk,
    async copyFiles(folder) {
      // While this client is out, no other query runs, and the engine writes only while a query runs.
      const client = await pool.connect();
      try {
        await cp(parts.cluster, folder, {
          recursive: true,
          errorOnExist: true,
          force: false,
          mode: constants.COPYFILE_FICLONE,
        });
      } finally {
        client.release();
      }
    },
    async end() {
      await endUpkeep();
      await pool.end();
      await engine.close();
      await parts.release();
    },
  });
}

/** Does what a server does by itself. @returns ends it, once what runs is done */
function beginUpkeep(pool: pg.Pool, { disk, upkeepEveryMs, checkpointAfter }: EngineParts): () => Promise<void> {
  const endStatistics = keepStatistics(pool, upkeepEveryMs, () => !disk?.isFull('database'));
  const endCheckpoints = keepCheckpoints(pool, upkeepEveryMs, checkpointAfter);
  return async () => void (await Promise.all([endStatistics(), endCheckpoints()]));
}

/** A client is only a view of the one session, so a new client may find state that an aborted one left. */
async function enterSession(client: pg.ClientBase): Promise<void> {
  await client.query('ROLLBACK');
  await client.query('RESET ROLE');
  await client.query('DEALLOCATE ALL');
  await enterServiceRole(client, SEARCH_PATH, 'embedded PostgreSQL');
}

/**
 * The pool that BullMQ uses: every query waits its turn at the one connection. A listening "client" holds no
 * connection, because the one session listens, and its notifications come with the answer to any query.
 */
function queuePool(pool: pg.Pool, notifications: EventEmitter, disk: DatabaseDisk | undefined): pg.Pool {
  const query = (text: string, values?: unknown[]) =>
    disk?.isFull('database') ? readOnlyQuery(pool, text, values) : pool.query(text, values);
  return Object.assign(new EventEmitter(), {
    options: { keepAlive: true },
    query,
    end: async () => undefined,
    connect: async () => {
      const client = new EventEmitter();
      const heard = (notification: pg.Notification) => client.emit('notification', notification);
      notifications.on('notification', heard);
      return Object.assign(client, { query, release: () => void notifications.off('notification', heard) });
    },
  }) as unknown as pg.Pool;
}

/** @throws {DiskFull} if the query writes */
async function readOnlyQuery(pool: pg.Pool, text: string, values?: unknown[]): Promise<pg.QueryResult> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN READ ONLY');
    const result = await client.query(text, values);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw isReadOnly(error) ? new DiskFull('queue') : error;
  } finally {
    client.release();
  }
}
