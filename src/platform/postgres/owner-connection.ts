import { access } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { makeCluster } from './embedded-cluster.js';
import { lockFolder } from './folder-lock.js';
import { CLUSTER } from './open-embedded.js';
import { serverStream } from './server-stream.js';
import { enterStandardSession } from './service-role.js';
import { startEngine } from './start-engine.js';

/** A connection under the role that owns the tables, for copies of the database. */
export interface OwnerConnection {
  readonly client: pg.Client;
  close(): Promise<void>;
}

/** Connects to a PostgreSQL server as the role of the URL. */
export async function openServerOwner(url: string): Promise<OwnerConnection> {
  const client = new pg.Client({
    connectionString: url,
    stream: serverStream,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  client.on('error', () => undefined); // a lost connection also fails the query that runs
  await client.connect();
  await enterStandardSession(client).catch(async (error: unknown) => {
    await client.end();
    throw error;
  });
  return { client, close: () => client.end() };
}

/** Opens the files of an embedded database that no other process uses. */
export async function openClusterOwner(cluster: string): Promise<OwnerConnection> {
  const engine = await startEngine().open(cluster);
  const client = new pg.Client(engine.config);
  await client.connect();
  return {
    client,
    async close() {
      await client.end();
      await engine.close();
    },
  };
}

/**
 * Locks the folder of an embedded database and opens it.
 * @param create makes an empty database if there is none
 * @throws {FolderLocked} if a service runs on it; {Error} if there is none
 */
export async function openEmbeddedOwner(folder: string, create: boolean): Promise<OwnerConnection> {
  const cluster = join(folder, CLUSTER);
  if (!create)
    await access(cluster).catch(() => {
      throw new Error(`there is no database in ${folder}`);
    });
  const lock = await lockFolder(folder);
  try {
    await makeCluster(cluster);
    const { client, close } = await openClusterOwner(cluster);
    return { client, close: () => close().finally(() => lock.release()) };
  } catch (error) {
    await lock.release();
    throw error;
  }
}
