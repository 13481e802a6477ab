import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

/** A server that is stuck ends the measurement with words. */
const ANSWERS_WITHIN_MS = 60_000;

export type EngineName = 'embedded' | 'postgresql';

/** A fresh, empty place for a service's data. */
export interface Engine {
  readonly name: EngineName;
  /** What it is and how it keeps what it is given, for whoever reads the figures. */
  readonly description: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

export async function embeddedEngine(): Promise<Engine> {
  const dataDir = await mkdtemp(join(tmpdir(), 'archivist-bench-'));
  return {
    name: 'embedded',
    description: { database: 'embedded PostgreSQL (PGlite), durable', queue: 'the same database' },
    environment: { DATA_DIR: dataDir },
    remove: () => rm(dataDir, { recursive: true, force: true }),
  };
}

/** A database of its own on a server whose role may make one. @param redisUrl a Redis that nobody else uses meanwhile */
export async function postgresqlEngine(server: string, redisUrl: string | undefined): Promise<Engine> {
  const name = `bench_${randomUUID().replaceAll('-', '')}`;
  const dataDir = await mkdtemp(join(tmpdir(), 'archivist-bench-'));
  const settings = await onServer(server, async (client) => {
    await client.query(`CREATE DATABASE ${name}`);
    const show = async (setting: string) => String(Object.values((await client.query(`SHOW ${setting}`)).rows[0])[0]);
    return {
      database: `PostgreSQL ${await show('server_version')}`,
      fsync: await show('fsync'),
      synchronous_commit: await show('synchronous_commit'),
    };
  });
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    name: 'postgresql',
    description: { ...settings, queue: redisUrl ? 'Redis' : 'the same database' },
    environment: { DATA_DIR: dataDir, DATABASE_URL: url.href, ...(redisUrl ? { REDIS_URL: redisUrl } : {}) },
    async remove() {
      await onServer(server, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function onServer<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWERS_WITHIN_MS,
    query_timeout: ANSWERS_WITHIN_MS,
  });
  await client.connect();
  return work(client).finally(() => client.end());
}
