import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrateTables } from '../../src/platform/postgres/migrate.js';
import { commandLine } from '../support/command-line.js';
import { engines, onServer } from '../support/engines.js';
import { serverUrl } from '../support/prerequisites.js';

describe('a command on a folder that is not the service’s', () => {
  let folder: string;
  /** Cannot be looked into, also by root. */
  let closed: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wrong-folder-'));
    closed = join(folder, 'file', 'data');
    await writeFile(join(folder, 'file'), '');
  });
  afterAll(() => rm(folder, { recursive: true }));

  const on = (dataDir: string, ...args: string[]) => commandLine(args, { DATA_DIR: dataDir, PORT: '1' });
  const backup = () => ['backup', join(folder, 'backup'), '--without-keys'];

  it('names it and creates nothing: audit, backup', async () => {
    const empty = join(folder, 'empty');
    for (const args of [['audit'], backup()]) {
      const { err, exitCode } = await on(empty, ...args);
      expect([err, exitCode]).toEqual([expect.stringContaining(`there is no database in DATA_DIR ${empty}`), 2]);
    }
    expect(await readdir(folder)).toEqual(['file']);
  });

  it('says that no service has started on its database: audit, backup', async () => {
    const place = await engines().at(-1)!.place();
    try {
      for (const args of [['audit'], backup()]) {
        const { err, exitCode } = await commandLine(args, { ...place.environment, PORT: '1' });
        const why = 'error: there is no deployment in this database: no service has started on it';
        expect([args[0], err, exitCode]).toEqual([args[0], why, 2]);
      }
      expect(await readdir(folder)).toEqual(['file']);
    } finally {
      await place.remove();
    }
  });

  /** An empty database on the server, while the work goes on. */
  async function onEmptyDatabase(work: (url: string) => Promise<void>): Promise<void> {
    const name = `nothing_${randomUUID().replaceAll('-', '')}`;
    await onServer(serverUrl!, `CREATE DATABASE ${name}`);
    await work(Object.assign(new URL(serverUrl!), { pathname: `/${name}` }).href).finally(() =>
      onServer(serverUrl!, `DROP DATABASE ${name} WITH (FORCE)`),
    );
  }

  it.skipIf(!serverUrl)('leaves no part of a copy of a database on which no service has started: backup', () =>
    onEmptyDatabase(async (DATABASE_URL) => {
      const { err, exitCode } = await commandLine(backup(), { DATABASE_URL, PORT: '1' });
      expect([err, exitCode]).toEqual([expect.stringContaining('there is no deployment in this database'), 2]);
      expect(await readdir(folder)).toEqual(['file']);
    }),
  );

  it.skipIf(!serverUrl)('leaves a database of no version or of another one as it is: audit, backup', () =>
    onEmptyDatabase(async (DATABASE_URL) => {
      const tables = async () => {
        const [row] = await onServer(
          DATABASE_URL,
          "SELECT count(*)::int AS tables FROM pg_class WHERE relnamespace = to_regnamespace('archivist')",
        );
        return row!['tables'];
      };
      const refused = async (why: string) => {
        for (const args of [['audit'], backup()]) {
          const { err, exitCode } = await commandLine(args, { DATABASE_URL, PORT: '1' });
          expect([args[0], err, exitCode]).toEqual([args[0], expect.stringContaining(why), 2]);
        }
      };
      await refused('no service has started on it');
      expect(await tables()).toBe(0);
      const client = new pg.Client(DATABASE_URL);
      await client.connect();
      await migrateTables(client, 1);
      const before = await tables();
      await refused('an older version of vcon-archivist made it');
      const later = "INSERT INTO archivist.schema_migration (name, run_on) VALUES ('999999_later', now())";
      await client.query(later).finally(() => client.end());
      await refused('a newer version of vcon-archivist has migrated it (999999_later is unknown to this version)');
      expect(await tables()).toBe(before);
      expect(await readdir(folder)).toEqual(['file']);
    }),
  );

  it('says why it cannot look into it, and not that it is empty: audit, backup, keys', async () => {
    for (const args of [['audit'], backup(), ['keys', 'list']]) {
      const { err, exitCode } = await on(closed, ...args);
      expect([err, exitCode]).toEqual([
        expect.stringContaining('a part of the path is not a folder'),
        args[0] === 'keys' ? 1 : 2,
      ]);
      expect(err).not.toMatch(/there is no database|first start/);
    }
    const absent = await on(join(folder, 'empty'), 'keys', 'list');
    expect(absent.err).toContain('the service creates it at its first start; set KEYS_DIR or DATA_DIR');
  });
});
