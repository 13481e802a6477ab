import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { fileObjectStore } from '../../src/platform/file-object-store.js';
import { openEmbedded } from '../../src/platform/postgres/open-embedded.js';
import { openPostgresql } from '../../src/platform/postgres/open-postgresql.js';
import type { PooledDatabase } from '../../src/platform/postgres/pooled-database.js';
import { createRig, type LedgerRig } from './ledger-rig.js';

const SERVER = process.env['TEST_DATABASE_URL'];

/** The embedded engine always, a PostgreSQL server where the environment names one. */
export const ENGINES: readonly ('embedded' | 'PostgreSQL')[] = SERVER ? ['embedded', 'PostgreSQL'] : ['embedded'];

/** A database of its own and everything that a ledger stands on. */
export interface Opened {
  readonly database: PooledDatabase;
  rig(): LedgerRig;
  /** Runs SQL as the role that owns the tables, which row-level security does not bind: a backup tool, or a fault. */
  owner(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

type Owner = Opened['owner'];

async function openOwned(folder: string): Promise<{ database: PooledDatabase; owner: Owner; drop(): Promise<void> }> {
  await mkdir(folder);
  const database = await openEmbedded(folder);
  const owner: Owner = (text, values) =>
    database.inTransaction('system', async (tx) => {
      await tx.execute('RESET ROLE');
      const rows = await tx.query(text, values);
      await tx.execute('SET ROLE vcon_archivist_service');
      return rows;
    });
  return { database, owner, drop: async () => undefined };
}

async function openOnServer(
  server: string,
): Promise<{ database: PooledDatabase; owner: Owner; drop(): Promise<void> }> {
  const name = `ledger_${randomUUID().replaceAll('-', '')}`;
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const database = await openPostgresql(url.href, pino({ level: 'silent' }));
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  return {
    database,
    owner: async (text, values = []) => (await client.query(text, [...values])).rows,
    async drop() {
      await client.end();
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
}

export async function openEngine(engine: (typeof ENGINES)[number]): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-test-'));
  const { database, owner, drop } =
    engine === 'embedded' ? await openOwned(join(folder, 'data')) : await openOnServer(SERVER!);
  let stores = 0;
  return {
    database,
    owner,
    rig() {
      stores += 1;
      return createRig({ database, objectStore: fileObjectStore(join(folder, `objects-${stores}`)) });
    },
    async close() {
      await database.close();
      await drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
