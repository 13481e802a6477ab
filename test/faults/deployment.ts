import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { expect } from 'vitest';
import { type ServiceProcess, spawnService } from './service-process.js';

export type EngineName = 'embedded' | 'PostgreSQL';
export const SERVER = process.env['TEST_DATABASE_URL'];
/** The embedded engine always, a PostgreSQL server where the environment names one. */
export const ENGINES: readonly EngineName[] = SERVER ? ['embedded', 'PostgreSQL'] : ['embedded'];

/** Bytes: a few embedded clusters. */
const ROOMY = 2 ** 30;
const CLIENT = { client_id: randomUUID(), client_secret: `${randomUUID()}${randomUUID()}` };

/** A service that answers. */
export interface RunningProcess extends ServiceProcess {
  readonly url: string;
}

/** One deployment: a folder, a database of its own, and the processes that serve it. */
export interface Deployment {
  readonly folder: string;
  readonly objectsDir: string;
  /** Starts a process; two with different names have different data folders and share the rest. */
  spawn(environment?: Record<string, string>, name?: string): ServiceProcess;
  /** Starts a process and waits until it listens. */
  start(environment?: Record<string, string>, name?: string): Promise<RunningProcess>;
  /** SQL as the role that owns the tables; PostgreSQL only. */
  owner(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** A connection of the owning role; PostgreSQL only. */
  connect(): Promise<pg.Client>;
  /** As if the time of all leases were over: what a killed process held can be taken at once. */
  expireLeases(): Promise<void>;
  /** Copies the database while no process uses it; the result puts the copy in its place. */
  backUp(): Promise<() => Promise<void>>;
  /** Kills what still runs and removes everything. */
  close(): Promise<void>;
}

interface Engine {
  readonly environment: Record<string, string>;
  connect(): Promise<pg.Client>;
  owner: Deployment['owner'];
  expireLeases: Deployment['expireLeases'];
  backUp: Deployment['backUp'];
  drop(): Promise<void>;
}

function embeddedEngine(folder: string): Engine {
  const notThere = async (): Promise<never> => {
    throw new Error('the embedded database is its process alone');
  };
  const live = join(folder, 'main', 'embedded', 'postgres');
  const copy = join(folder, 'copy');
  return {
    environment: {},
    connect: notThere,
    owner: notThere,
    expireLeases: async () => undefined,
    async backUp() {
      await cp(live, copy, { recursive: true });
      return async () => {
        await rm(live, { recursive: true });
        await cp(copy, live, { recursive: true });
      };
    },
    drop: async () => undefined,
  };
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return work(client).finally(() => client.end());
}

async function postgresqlEngine(server: string): Promise<Engine> {
  const name = `faults_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  const administer = (sql: string) => withClient(server, (client) => client.query(sql));
  const owner: Engine['owner'] = (text, values = []) =>
    withClient(url.href, async (client) => (await client.query(text, [...values])).rows);
  await administer(`CREATE DATABASE ${name}`);
  return {
    environment: { DATABASE_URL: url.href, REDIS_URL: process.env['TEST_REDIS_URL'] ?? '' },
    owner,
    async connect() {
      const client = new pg.Client({ connectionString: url.href });
      client.on('error', () => undefined);
      await client.connect();
      return client;
    },
    expireLeases: async () => {
      await owner('UPDATE archivist.log SET lease_until = clock_timestamp() WHERE lease_until > clock_timestamp()');
    },
    async backUp() {
      await administer(`CREATE DATABASE ${name}_copy TEMPLATE ${name}`);
      return async () => {
        await administer(`DROP DATABASE ${name} WITH (FORCE)`);
        await administer(`ALTER DATABASE ${name}_copy RENAME TO ${name}`);
      };
    },
    async drop() {
      for (const each of [name, `${name}_copy`]) await administer(`DROP DATABASE IF EXISTS ${each} WITH (FORCE)`);
    },
  };
}

/** A kill leaves alone what the operating system holds, so memory serves where there is much of it, and is quicker. */
async function scratch(): Promise<string> {
  const memory = '/dev/shm';
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return free > ROOMY ? memory : tmpdir();
}

/** @param server of PostgreSQL, when not the one that the environment names */
export async function createDeployment(engineName: EngineName, server = SERVER): Promise<Deployment> {
  const folder = await mkdtemp(join(await scratch(), 'faults-'));
  const engine = engineName === 'embedded' ? embeddedEngine(folder) : await postgresqlEngine(server!);
  const objectsDir = join(folder, 'objects');
  const processes = new Set<ServiceProcess>();
  const spawn: Deployment['spawn'] = (environment = {}, name = 'main') => {
    const process = spawnService({
      DATA_DIR: join(folder, name),
      KEYS_DIR: join(folder, 'keys'),
      OBJECT_STORE_URL: pathToFileURL(objectsDir).href,
      PUBLIC_URL: 'http://archivist.example',
      PORT: '0',
      PLUGIN_PORT: '0',
      MASSIF_HEIGHT: '4',
      BOOTSTRAP_CLIENT_ID: CLIENT.client_id,
      BOOTSTRAP_CLIENT_SECRET: CLIENT.client_secret,
      ...engine.environment,
      ...environment,
    });
    processes.add(process);
    void process.ended.then(() => processes.delete(process));
    return process;
  };
  return {
    ...engine,
    folder,
    objectsDir,
    spawn,
    async start(environment, name) {
      const process = spawn(environment, name);
      const url = await process.ready;
      if (url === undefined) throw new Error(`the service ended: ${process.output()}`);
      return { ...process, url };
    },
    async close() {
      await Promise.all([...processes].map((process) => process.kill()));
      await engine.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A bearer token of the first Owner, from a process of the deployment. */
export async function requestToken(url: string): Promise<string> {
  const response = await fetch(`${url}/archivist/iam/v1/appidp/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', ...CLIENT }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { access_token: string }).access_token;
}
