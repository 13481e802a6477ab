import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';
import { lockFolder } from '../../src/platform/postgres/folder-lock.js';
import { CLUSTER, openEmbedded } from '../../src/platform/postgres/open-embedded.js';
import { openPostgresql } from '../../src/platform/postgres/open-postgresql.js';
import type { PooledDatabase } from '../../src/platform/postgres/pooled-database.js';
import { serverUrl } from './prerequisites.js';
import { templateDatabase } from './template-database.js';

const silent = pino({ level: 'silent' });

/** Where a service of a test's own can keep everything: a folder, and a migrated, empty database in it or on a server. */
export interface Place {
  readonly environment: { readonly DATA_DIR: string; readonly DATABASE_URL?: string };
  remove(): Promise<void>;
}

/** The database of a place, opened. */
export interface TestDatabase {
  readonly database: PooledDatabase;
  readonly environment: Place['environment'];
  /** Runs SQL as the role that owns the tables, which row-level security does not bind: a backup tool, or a fault. */
  asOwner(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Closes and removes it. */
  close(): Promise<void>;
}

/** One of the databases that the service runs on. `toString` names it in test titles. */
export interface Engine {
  readonly name: PooledDatabase['engine'];
  place(): Promise<Place>;
  open(): Promise<TestDatabase>;
  toString(): string;
}

/** The embedded engine always, and a PostgreSQL server where TEST_DATABASE_URL names one. */
export function engines(): Engine[] {
  const embedded = engine('embedded PostgreSQL', embeddedPlace, openOnEmbedded);
  return serverUrl ? [embedded, engine('PostgreSQL', serverPlace, openOnServer)] : [embedded];
}

function engine(name: Engine['name'], place: Engine['place'], open: Engine['open']): Engine {
  return { name, place, open, toString: () => name };
}

/** A DATA_DIR with a migrated embedded database in it, made by copy; a new folder unless told. The caller removes it. */
export async function embeddedDataDir(place?: string): Promise<string> {
  const run = inject('runFolder');
  const template = join(run, 'template', CLUSTER);
  await once(run, join(run, 'template.ready'), async () => {
    await (await openEmbedded(join(run, 'template'))).close();
  });
  const dataDir = place ?? (await mkdtemp(join(run, 'data-')));
  await mkdir(join(dataDir, 'embedded'), { recursive: true });
  await copyFolder(template, join(dataDir, 'embedded', CLUSTER));
  return dataDir;
}

/** For the seven hundred files of a cluster, Node's own copy takes a third of a second of the processor. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-R', from, to]);
}

/** Of all workers one does it, and the others wait for it. */
async function once(run: string, mark: string, work: () => Promise<void>): Promise<void> {
  while (!existsSync(mark)) {
    const lock = await lockFolder(join(run, 'making')).catch(() => undefined);
    if (!lock) {
      await wait(50);
      continue;
    }
    try {
      if (existsSync(mark)) return;
      await work();
      await mkdir(mark);
    } finally {
      await lock.release();
    }
  }
}

async function embeddedPlace(): Promise<Place> {
  const DATA_DIR = await embeddedDataDir();
  return {
    environment: { DATA_DIR },
    remove: () => rm(DATA_DIR, { recursive: true, force: true }),
  };
}

async function openOnEmbedded(): Promise<TestDatabase> {
  const { environment, remove } = await embeddedPlace();
  const database = await openEmbedded(join(environment.DATA_DIR, 'embedded'));
  return {
    database,
    environment,
    asOwner: (text, values) =>
      database.inTransaction('system', async (tx) => {
        await tx.execute('SET LOCAL ROLE NONE');
        return tx.query(text, values);
      }),
    async close() {
      await database.close();
      await remove();
    },
  };
}

async function serverPlace(): Promise<Place> {
  const run = inject('runFolder');
  const template = templateDatabase(basename(run));
  await once(run, join(run, 'server.ready'), async () => {
    await onServer(serverUrl!, `CREATE DATABASE ${template}`);
    await (await openPostgresql(urlOf(template), silent)).close();
  });
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(serverUrl!, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const DATA_DIR = await mkdtemp(join(run, 'data-'));
  return {
    environment: { DATA_DIR, DATABASE_URL: urlOf(name) },
    async remove() {
      await onServer(serverUrl!, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await rm(DATA_DIR, { recursive: true, force: true });
    },
  };
}

async function openOnServer(): Promise<TestDatabase> {
  const { environment, remove } = await serverPlace();
  const url = environment.DATABASE_URL!;
  const database = await openPostgresql(url, silent);
  return {
    database,
    environment,
    asOwner: (text, values) => onServer(url, text, values),
    async close() {
      await database.close();
      await remove();
    },
  };
}

/** Runs a statement on a connection of its own: one and no more, like the embedded engine. */
export async function onServer(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  // Dropping a database ends what is still on its way out.
  client.on('error', () => undefined);
  await client.connect();
  const query = { text, values: [...values], queryMode: 'extended' };
  return client
    .query<Record<string, unknown>>(query)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

function urlOf(database: string): string {
  return Object.assign(new URL(serverUrl!), { pathname: `/${database}` }).href;
}
