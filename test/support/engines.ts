import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
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

/** A migrated, empty database of a test's own. */
export interface TestDatabase {
  readonly database: PooledDatabase;
  /** Its address as the service's configuration has it, and a folder for everything else. */
  readonly environment: { readonly DATA_DIR: string; readonly DATABASE_URL?: string };
  /** Runs SQL as the role that owns the tables, which row-level security does not bind: a backup tool, or a fault. */
  asOwner(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Closes and removes it. */
  close(): Promise<void>;
}

/** One of the databases that the service runs on. `toString` names it in test titles. */
export interface Engine {
  readonly name: PooledDatabase['engine'];
  open(): Promise<TestDatabase>;
  toString(): string;
}

/** The embedded engine always, and a PostgreSQL server where TEST_DATABASE_URL names one. */
export function engines(): Engine[] {
  const embedded = engine('embedded PostgreSQL', openOnEmbedded);
  return serverUrl ? [embedded, engine('PostgreSQL', () => openOnServer(serverUrl!))] : [embedded];
}

function engine(name: Engine['name'], open: Engine['open']): Engine {
  return { name, open, toString: () => name };
}

/** A DATA_DIR with a migrated embedded database in it, made by copy. The caller removes it. */
export async function embeddedDataDir(): Promise<string> {
  const run = inject('runFolder');
  const template = join(run, 'template', CLUSTER);
  await once(run, join(run, 'template.ready'), async () => {
    await (await openEmbedded(join(run, 'template'))).close();
  });
  const dataDir = await mkdtemp(join(run, 'data-'));
  await mkdir(join(dataDir, 'embedded'));
  await cp(template, join(dataDir, 'embedded', CLUSTER), { recursive: true, mode: constants.COPYFILE_FICLONE });
  return dataDir;
}

/** Of all workers one does it, and the others wait for it. */
async function once(run: string, mark: string, work: () => Promise<void>): Promise<void> {
  while (
    !(await access(mark).then(
      () => true,
      () => false,
    ))
  ) {
    const lock = await lockFolder(join(run, 'making')).catch(() => undefined);
    if (!lock) {
      await wait(100);
      continue;
    }
    try {
      if (
        await access(mark).then(
          () => false,
          () => true,
        )
      ) {
        await work();
        await mkdir(`${mark}.new`);
        await rename(`${mark}.new`, mark);
      }
    } finally {
      await lock.release();
    }
  }
}

async function openOnEmbedded(): Promise<TestDatabase> {
  const dataDir = await embeddedDataDir();
  const database = await openEmbedded(join(dataDir, 'embedded'));
  return {
    database,
    environment: { DATA_DIR: dataDir },
    asOwner: (text, values) =>
      database.inTransaction('system', async (tx) => {
        await tx.execute('SET LOCAL ROLE NONE');
        return tx.query(text, values);
      }),
    async close() {
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function openOnServer(server: string): Promise<TestDatabase> {
  const run = inject('runFolder');
  const template = templateDatabase(basename(run));
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  await once(run, join(run, 'server.ready'), async () => {
    await admin.query(`CREATE DATABASE ${template}`);
    await (await openPostgresql(urlOf(server, template), silent)).close();
  });
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = urlOf(server, name);
  const database = await openPostgresql(url, silent);
  const owner = new pg.Pool({ connectionString: url, max: 1 });
  // Dropping the database ends what is still on its way out.
  owner.on('error', () => undefined);
  const dataDir = await mkdtemp(join(run, 'data-'));
  return {
    database,
    environment: { DATA_DIR: dataDir, DATABASE_URL: url },
    asOwner: async (text, values = []) => (await owner.query(text, [...values])).rows,
    async close() {
      await Promise.all([database.close(), owner.end()]);
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
