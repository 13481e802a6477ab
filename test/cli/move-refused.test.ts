import { readdir } from 'node:fs/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/platform/postgres/open-database.js';
import { parseConfig } from '../../src/service/config/config.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { commandLine } from '../support/command-line.js';
import { engines, onServer, type Place } from '../support/engines.js';
import { serverUrl } from '../support/prerequisites.js';

describe.skipIf(!serverUrl)('move leaves the embedded database as it is', () => {
  let stopped: TestService;
  let target: Place;
  let to: string;
  beforeAll(async () => {
    target = await engines().at(-1)!.place();
    to = target.environment.DATABASE_URL!;
    stopped = await startTestService({}, engines()[0]);
    await stopped.asOwner("UPDATE archivist.key_manifest SET manifest = '\\x00'");
    await stopped.service.close();
  }, 60_000);
  afterAll(async () => {
    await stopped?.close();
    await target?.remove();
  });

  const move = (url: string, ...options: string[]) =>
    commandLine(['move', '--to', url, ...options], { ...stopped.environment, DATABASE_URL: '' });
  const opens = async (databaseUrl: string) => {
    const config = parseConfig({ ...stopped.environment, DATABASE_URL: databaseUrl });
    await (await openDatabase(config, pino({ level: 'silent' }))).close();
  };

  it.each(['mysql://db/archivist', 'db/archivist'])('where --to is no URL of PostgreSQL: %s', async (url) => {
    const { err, exitCode } = await move(url);
    expect([exitCode, err]).toEqual([2, 'error: --to must begin with postgres:// or postgresql://']);
  });

  it('where --root is no fingerprint, before anything is copied', async () => {
    const { err, exitCode } = await move(to, '--root', 'AITC');
    expect([exitCode, err]).toEqual([2, expect.stringContaining('--root: the fingerprint has 4 characters, not 56')]);
    const mark = await onServer(to, "SELECT obj_description('archivist'::regnamespace, 'pg_namespace') AS restoring");
    expect(mark).toEqual([{ restoring: null }]);
  });

  it('where no service has started on it', async () => {
    const unused = await engines()[0]!.place();
    const { err, exitCode } = await commandLine(['move', '--to', to], { ...unused.environment, DATABASE_URL: '' });
    await unused.remove();
    const why = 'error: there is no deployment in this database: no service has started on it';
    expect([exitCode, err]).toEqual([2, why]);
  });

  it('where another deployment uses the database of --to, which stays as it is too', async () => {
    const rows = () => onServer(to, 'SELECT * FROM archivist.deployment');
    await onServer(
      to,
      `DO $$ BEGIN
         SET LOCAL session_replication_role = replica;
         INSERT INTO archivist.deployment
           (only_row, deployment_tenancy, public_tenancy, public_statement_log, private_statement_log, created_at, keys_log)
           SELECT true, id, id, id, id, now(), id FROM gen_random_uuid() AS id;
       END $$`,
    );
    const before = await rows();
    const { err, exitCode } = await move(to);
    expect([exitCode, err]).toEqual([
      2,
      'error: the database of --to is in use by a deployment: move into an empty one',
    ]);
    expect(before).toHaveLength(1);
    expect(await rows()).toEqual(before);
    await onServer(to, 'DELETE FROM archivist.deployment');
  });

  it('where the audit of the copy finds a fault, and no service starts on the copy', async () => {
    const { out, exitCode } = await move(to);
    expect([exitCode, out]).toEqual([
      1,
      expect.stringMatching(
        /FAULT .*key manifest.*\nThe audit found .* Nothing is moved: the service can start on the embedded database\./s,
      ),
    ]);
    await expect(opens(to)).rejects.toThrow('a move into it has not finished');
    await opens('');
    expect(await readdir(stopped.environment.DATA_DIR)).not.toContain('move');
  });
});
