import { randomUUID } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { expect } from 'vitest';
import { copyFolder, embeddedDataDir, engines, onServer } from '../support/engines.js';
import { serviceRedisUrl } from '../support/own-redis.js';
import { redisUrl, serverUrl } from '../support/prerequisites.js';
import { type ServiceProcess, spawnService } from './service-process.js';

export type EngineName = 'embedded' | 'PostgreSQL';
/** The embedded engine always, a PostgreSQL server where the environment names one. */
export const ENGINES: readonly EngineName[] = serverUrl ? ['embedded', 'PostgreSQL'] : ['embedded'];

/** The first Owner's application. */
export const CLIENT = { client_id: randomUUID(), client_secret: `${randomUUID()}${randomUUID()}` };

/** A service that answers. */
export interface RunningProcess extends ServiceProcess {
  readonly url: string;
}

/** One deployment: a folder, a database of its own, and the processes that serve it. */
export interface Deployment {
  readonly folder: string;
  readonly objectsDir: string;
  /** Where its database and its Redis are. */
  readonly environment: Readonly<Record<string, string>>;
  /** The settings of a process; two with different names have different data folders and share the rest. */
  settings(environment?: Record<string, string>, name?: string): Record<string, string>;
  /** Starts a process with these settings. */
  spawn(environment?: Record<string, string>, name?: string): ServiceProcess;
  /** The variable of processes that `arm` reaches. */
  readonly armable: Readonly<Record<'ARCHIVIST_FAILPOINT', string>>;
  /** Kills armable processes when they reach a named point; `undefined` lets them live. */
  arm(failpoint: string | undefined): Promise<void>;
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

async function embeddedEngine(folder: string): Promise<Engine> {
  const notThere = async (): Promise<never> => {
    throw new Error('the embedded database is its process alone');
  };
  await embeddedDataDir(join(folder, 'main'));
  const live = join(folder, 'main', 'embedded', 'postgres');
  const copy = join(folder, 'copy');
  return {
    environment: {},
    connect: notThere,
    owner: notThere,
    expireLeases: async () => undefined,
    async backUp() {
      await rm(copy, { recursive: true, force: true });
      await copyFolder(live, copy);
      return async () => {
        await rm(live, { recursive: true });
        await copyFolder(copy, live);
      };
    },
    drop: async () => undefined,
  };
}

/** @param own an empty database, when not one of the server that the environment names */
async function postgresqlEngine(own?: string): Promise<Engine> {
  const place = own === undefined ? await engines().at(-1)!.place() : undefined;
  const url = own ?? place!.environment.DATABASE_URL!;
  const name = new URL(url).pathname.slice(1);
  const owner: Engine['owner'] = (text, values) => onServer(url, text, values);
  const administer = (sql: string) => onServer(serverUrl!, sql);
  return {
    environment: { DATABASE_URL: url, REDIS_URL: redisUrl ? await serviceRedisUrl() : '' },
    owner,
    async connect() {
      const client = new pg.Client({ connectionString: url });
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
      if (place === undefined) return;
      await place.remove();
      await administer(`DROP DATABASE IF EXISTS ${name}_copy WITH (FORCE)`);
    },
  };
}

/**
 * @param database an empty one of PostgreSQL, when not of the server that the environment names
 * @param places the folder to be made in, and the folder of the objects
 */
export async function createDeployment(
  engineName: EngineName,
  database?: string,
  places: { readonly within?: string; readonly objectsDir?: string } = {},
): Promise<Deployment> {
  const folder = await mkdtemp(join(places.within ?? tmpdir(), 'faults-'));
  const engine = engineName === 'embedded' ? await embeddedEngine(folder) : await postgresqlEngine(database);
  const objectsDir = places.objectsDir ?? join(folder, 'objects');
  const armed = join(folder, 'armed');
  const processes = new Set<ServiceProcess>();
  const settings: Deployment['settings'] = (environment = {}, name = 'main') => ({
    DATA_DIR: join(folder, name),
    KEYS_DIR: join(folder, 'keys'),
    OBJECT_STORE_URL: pathToFileURL(objectsDir).href,
    PUBLIC_URL: 'http://archivist.example',
    PORT: '0',
    PLUGIN_PORT: '0',
    MASSIF_HEIGHT: '4',
    // Its entries would be counted among those of the test.
    AUDIT_SCHEDULE: 'off',
    BOOTSTRAP_CLIENT_ID: CLIENT.client_id,
    BOOTSTRAP_CLIENT_SECRET: CLIENT.client_secret,
    ...engine.environment,
    ...environment,
  });
  const spawn: Deployment['spawn'] = (environment, name) => {
    const process = spawnService(settings(environment, name));
    processes.add(process);
    void process.ended.then(() => processes.delete(process));
    return process;
  };
  return {
    ...engine,
    folder,
    objectsDir,
    settings,
    spawn,
    armable: { ARCHIVIST_FAILPOINT: `file:${armed}` },
    // A process that looks meanwhile sees the whole name or none.
    async arm(failpoint) {
      if (failpoint === undefined) return rm(armed, { force: true });
      await writeFile(`${armed}.next`, failpoint);
      await rename(`${armed}.next`, armed);
    },
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
