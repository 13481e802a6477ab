import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { unzipSync, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openEmbedded } from '../../../src/platform/postgres/open-embedded.js';
import { copyPreparedCluster, prepareCluster } from '../../../src/platform/postgres/prepared-cluster.js';
import { embeddedDataDir } from '../../support/engines.js';

const BUILT = fileURLToPath(new URL('../../../dist/src/prepared', import.meta.url));

describe('the migration of a database at its start', () => {
  let folder: string;
  beforeAll(async () => {
    folder = join(await embeddedDataDir(), 'embedded');
  });
  afterAll(() => rm(join(folder, '..'), { recursive: true, force: true }));

  const asOwner = async (sql: string): Promise<void> => {
    const database = await openEmbedded(folder);
    await database
      .inTransaction('system', async (tx) => {
        await tx.execute('SET LOCAL ROLE NONE');
        await tx.execute(sql);
      })
      .finally(() => database.close());
  };

  it('grants the schema of the queue again where the grant is missing', async () => {
    await asOwner('REVOKE ALL ON SCHEMA bullmq FROM vcon_archivist_service');
    const database = await openEmbedded(folder);
    const [row] = await database.inTransaction('system', (tx) =>
      tx.query("SELECT has_schema_privilege(current_user, 'bullmq', 'USAGE') AS may"),
    );
    await database.close();
    expect(row).toEqual({ may: true });
  });

  it('makes an index again that is missing, or that a crash left half made', async () => {
    const broken = (index: string) => `UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${index}'::regclass`;
    const [outOfStep, byTerm] = ['archivist.asset_event_out_of_step', 'archivist.asset_free_event_by_term'];
    for (const [index, fault] of [
      [outOfStep, broken(outOfStep)],
      [outOfStep, `DROP INDEX ${outOfStep}`],
      [byTerm, broken(byTerm)],
    ] as const) {
      await asOwner(fault);
      const database = await openEmbedded(folder);
      const [row] = await database.inTransaction('system', (tx) =>
        tx.query('SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)', [index]),
      );
      await database.close();
      expect([fault, row]).toEqual([fault, { valid: true }]);
    }
  });

  it('refuses a database of a newer version', async () => {
    await asOwner("INSERT INTO archivist.schema_migration (name, run_on) VALUES ('999999_later', now())");
    await expect(openEmbedded(folder)).rejects.toThrow(/999999_later/);
  });
});

describe('the cluster that the build prepares', () => {
  it('is copied as a whole, empty folders too, and only where there is one for these migrations', async () => {
    const target = await mkdtemp(join(inject('runFolder'), 'prepared-'));
    const build = join(target, 'build');
    const cluster = join(target, 'cluster');
    expect(await copyPreparedCluster(cluster, [build])).toBe(false);
    await expect(stat(cluster)).rejects.toThrow(/ENOENT/);
    const archive = zipSync({ 'pg_notify/': new Uint8Array(), 'PG_VERSION.gz': gzipSync('17\n') });
    await prepareCluster(async () => archive, build);
    await prepareCluster(() => Promise.reject(new Error('made although it is there')), build);
    expect(await copyPreparedCluster(cluster, [join(target, 'none'), build])).toBe(true);
    expect(await readFile(join(cluster, 'PG_VERSION'), 'utf8')).toBe('17\n');
    expect((await stat(join(cluster, 'pg_notify'))).isDirectory()).toBe(true);
    expect((await stat(cluster)).mode & 0o777).toBe(0o700);
  });

  it('is a zip file of what a first start would make: the one database, without the templates of the engine', async () => {
    const [name] = (await readdir(BUILT).catch(() => [])).filter((each) => each.endsWith('.zip'));
    expect(name, 'the program is not built: npm run build').toBeDefined();
    const members = Object.keys(unzipSync(await readFile(join(BUILT, name!))));
    expect(members).toEqual(expect.arrayContaining(['PG_VERSION.gz', 'pg_notify/', 'global/pg_control.gz']));
    expect(members.filter((path) => /^base\/\d+\/$/.test(path))).toHaveLength(1);
  });
});
