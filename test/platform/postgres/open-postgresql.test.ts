import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '../../../src/platform/logger.js';
import { requireDurableCommits } from '../../../src/platform/postgres/durable-commits.js';
import { openListening } from '../../../src/platform/postgres/listening-connection.js';
import { notifiedAnnouncements } from '../../../src/platform/postgres/notified-announcements.js';
import { openPostgresql } from '../../../src/platform/postgres/open-postgresql.js';
import { openServerOwner } from '../../../src/platform/postgres/owner-connection.js';
import { requireOwnSession } from '../../../src/platform/postgres/service-role.js';
import { isDatabaseUnavailable } from '../../../src/platform/postgres/transient-errors.js';
import { postgresQueues } from '../../../src/platform/queue/open-queue-backend.js';
import { serverUrl } from '../../support/prerequisites.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';

const silent = pino({ level: 'silent' });

describe.skipIf(!serverUrl)('a PostgreSQL server', () => {
  let admin: pg.Client;
  let name: string;
  let url: URL;
  beforeEach(async () => {
    admin = new pg.Client({ connectionString: serverUrl });
    await admin.connect();
    name = `open_${randomUUID().replaceAll('-', '')}`;
    await admin.query(`CREATE DATABASE ${name}`);
    url = new URL(serverUrl!);
    url.pathname = `/${name}`;
  });
  afterEach(async () => {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.query(`DROP ROLE IF EXISTS ${name}`);
    await admin.end();
  });

  /** Connects as the owner of the database, a role of the test's own. */
  async function makeOwner(mayMakeRoles: 'CREATEROLE' | 'NOCREATEROLE') {
    await admin.query(`CREATE ROLE ${name} LOGIN NOSUPERUSER ${mayMakeRoles} PASSWORD 'for-this-test'`);
    await admin.query(`ALTER DATABASE ${name} OWNER TO ${name}`);
    url.username = name;
    url.password = 'for-this-test';
  }

  /** As docs/operate/configuration.md says; other tests of this server need both roles as well. */
  async function grantRoles() {
    for (const role of ['vcon_archivist_service', 'vcon_archivist_search']) {
      await admin.query(
        `DO $$ BEGIN CREATE ROLE ${role} NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`,
      );
      await admin.query(`GRANT ${role} TO ${name} WITH ADMIN OPTION`);
    }
  }

  /** From PostgreSQL 16 on, CREATEROLE is not enough where another role has made them, as other tests of this server do. */
  async function grantRolesOfOthers() {
    const { rows } = await admin.query(
      "SELECT FROM pg_roles WHERE rolname = 'vcon_archivist_service' AND current_setting('server_version_num')::int >= 160000",
    );
    if (rows.length > 0) await grantRoles();
  }

  it.each(['new', 'migrated'])('that only reads is named as such, with the way out: a %s database', async (state) => {
    if (state === 'migrated') await (await openPostgresql(url.href, silent)).close();
    await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await expect(openPostgresql(url.href, silent)).rejects.toThrow(
      'it only reads, because default_transaction_read_only is on: set it to off for the server, the database or the role',
    );
    if (state === 'new') return;
    // An audit only reads.
    await (await openPostgresql(url.href, silent, { asItIs: true })).close();
  });

  it('is migrated once when several processes start at the same time on an empty database', async () => {
    const databases = await Promise.all(Array.from({ length: 4 }, () => openPostgresql(url.href, silent)));
    const rows = await databases[0]!.inTransaction('system', (tx) => tx.query('SELECT FROM archivist.tenancy'));
    expect(rows).toEqual([]);
    await Promise.all(databases.map((database) => database.close()));
    await (await openPostgresql(url.href, silent)).close();
  });

  it('needs no superuser: the owner of the database, who may make roles, is enough', async () => {
    await makeOwner('CREATEROLE');
    await grantRolesOfOthers();
    const database = await openPostgresql(url.href, silent);
    const [row] = await database.inTransaction('system', (tx) => tx.query('SELECT session_user, current_user'));
    expect(row).toEqual({ session_user: name, current_user: 'vcon_archivist_service' });
    await database.close();
  });

  it('is logged as one that ended a connection without what the driver knows of that connection', async () => {
    const lines: string[] = [];
    const logger = createLogger('warn', { destination: { write: (line) => lines.push(line) } });
    const database = await openPostgresql(url.href, logger);
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    const told = await vi.waitFor(() => JSON.parse(lines.find((line) => line.includes('idle database connection'))!));
    expect(told.err).not.toHaveProperty('client');
    await database.close();
  });

  it('that lets nobody in while it runs counts as one that does not answer, until it lets us in again', async () => {
    await makeOwner('CREATEROLE');
    await grantRolesOfOthers();
    const database = await openPostgresql(url.href, silent);
    const read = () => database.inTransaction('system', (tx) => tx.query('SELECT FROM archivist.tenancy'));
    await admin.query(`ALTER ROLE ${name} NOLOGIN`);
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    const refused = await read().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect([String(refused), isDatabaseUnavailable(refused)]).toEqual([expect.stringContaining('not permitted'), true]);
    await admin.query(`ALTER ROLE ${name} LOGIN`);
    expect(await read()).toEqual([]);
    await database.close();
  });

  it('counts as one that does not answer while a file of the URL cannot be read, until it can', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'root-'));
    const file = join(folder, 'root.pem');
    await writeFile(file, '');
    // The driver reads the file also if the server has no TLS.
    url.search = `?sslmode=disable&sslrootcert=${file}`;
    const database = await openPostgresql(url.href, silent);
    const begun = vi.fn();
    const listening = openListening({
      url: url.href,
      logger: silent,
      channel: 'files',
      lock: 1,
      begun,
      heard: vi.fn(),
    });
    await vi.waitFor(() => expect(begun).toHaveBeenCalledTimes(1));
    await rm(file);
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    const read = () => database.inTransaction('system', (tx) => tx.query('SELECT FROM archivist.tenancy'));
    const refused = await Promise.allSettled(Array.from({ length: 12 }, read));
    expect(refused.map((each) => each.status === 'rejected' && isDatabaseUnavailable(each.reason))).not.toContain(
      false,
    );
    await wait(1_500); // the listening connection tries again
    await writeFile(file, '');
    await vi.waitFor(() => expect(begun).toHaveBeenCalledTimes(2), { timeout: 5_000 });
    expect(await read()).toEqual([]);
    await listening.close();
    await database.close();
    await rm(folder, { recursive: true });
  });

  it('says what a role lacks that may not make roles, which is enough where an administrator made them', async () => {
    await makeOwner('NOCREATEROLE');
    await expect(openPostgresql(url.href, silent)).rejects.toThrow(/give it CREATEROLE, or let an administrator/);
    await grantRoles();
    await (await openPostgresql(url.href, silent)).close();
  });

  it('means the same by our statements for a role and a database with settings of their own', async () => {
    await admin.query(`CREATE ROLE ${name} LOGIN SUPERUSER PASSWORD 'for-this-test'`);
    await admin.query(`ALTER DATABASE ${name} OWNER TO ${name}`);
    const ofDatabase = {
      datestyle: 'German, DMY',
      row_security: 'off',
      bytea_output: 'escape',
      array_nulls: 'off',
      timezone: 'Asia/Kolkata',
    };
    const ofRole = {
      standard_conforming_strings: 'off',
      default_transaction_isolation: 'serializable',
      transform_null_equals: 'on',
      gin_fuzzy_search_limit: '1',
      intervalstyle: 'sql_standard',
      extra_float_digits: '-5',
      quote_all_identifiers: 'on',
    };
    for (const [setting, value] of Object.entries(ofDatabase))
      await admin.query(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
    for (const [setting, value] of Object.entries(ofRole))
      await admin.query(`ALTER ROLE ${name} SET ${setting} = '${value}'`);
    url.username = name;
    url.password = 'for-this-test';
    const MEANS = `SELECT current_setting('transaction_isolation') AS isolation, current_setting('row_security') AS rows,
      length('\\n') AS length, '2026-02-03T04:05:06.789Z'::timestamptz AS at, '2026-02-03T04:05:06Z'::timestamptz::text AS text,
      ('{NULL}'::text[])[1] IS NULL AS null_in_array, (1 = NULL) IS NULL AS null_is_equal_to_nothing,
      decode('01ff', 'hex')::text AS bytes, interval '1 day 2 hours'::text AS interval, (0.1::float8 + 0.2)::text AS number,
      current_setting('gin_fuzzy_search_limit') AS rows_of_an_index, quote_ident('name') AS identifier`;
    const means = {
      isolation: 'read committed',
      rows: 'on',
      length: 2,
      text: '2026-02-03 04:05:06+00',
      null_in_array: true,
      null_is_equal_to_nothing: true,
      bytes: '\\x01ff',
      interval: '1 day 02:00:00',
      number: '0.30000000000000004',
      rows_of_an_index: '0',
      identifier: 'name',
    };
    for (const _start of ['first', 'second']) {
      const database = await openPostgresql(url.href, silent);
      const at = new Date('2026-02-03T04:05:06.789Z');
      const { rows } = await database.queuePool.query(MEANS);
      expect(rows).toEqual([{ ...means, at }]);
      await database.inTransaction('system', async (tx) => {
        expect(await tx.query(MEANS)).toEqual([{ ...means, at }]);
      });
      const backend = postgresQueues(database, silent);
      const job = await backend.queue('settings').add('each', { text: "a\\b'c\n" });
      expect((await backend.queue('settings').getJob(job.id!))?.data).toEqual({ text: "a\\b'c\n" });
      await backend.close();
      await database.close();
    }
    const owner = await openServerOwner(url.href);
    expect((await owner.client.query(MEANS)).rows).toMatchObject([means]);
    await owner.close();
  });

  it.each(['LATIN1', 'SQL_ASCII'])(
    'is refused before anything is created in it if a new database is encoded in %s',
    async (encoding) => {
      await admin.query(`DROP DATABASE ${name}`);
      await admin.query(
        `CREATE DATABASE ${name} ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
      );
      await expect(openPostgresql(url.href, silent)).rejects.toThrow(`the encoding ${encoding} cannot`);
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      const { rows } = await client.query("SELECT FROM pg_namespace WHERE nspname = 'archivist'");
      await client.end();
      expect(rows).toEqual([]);
    },
  );

  it('lets us wait for a lock, whatever it is set to', async () => {
    await admin.query(`ALTER DATABASE ${name} SET lock_timeout = 50`);
    const database = await openPostgresql(url.href, silent);
    const plain = new pg.Client({ connectionString: url.href });
    await plain.connect();
    await plain.query('SELECT pg_advisory_lock(1)');
    const locked = database.inTransaction('system', (tx) => tx.query('SELECT pg_advisory_xact_lock(1)'));
    await Promise.race([locked, wait(500)]);
    await plain.end();
    await locked;
    await database.close();
  });

  it('lets a migration and a copy take as long as they need, whatever it is set to', async () => {
    const other = new pg.Client({ connectionString: url.href });
    await other.connect();
    const { rows } = await admin.query<{ name: string }>(
      "SELECT name FROM pg_settings WHERE name ~ '(statement|lock|transaction|session)_timeout$' AND context = 'user'",
    );
    expect(rows.length).toBeGreaterThanOrEqual(4);
    for (const { name: limit } of rows) await admin.query(`ALTER DATABASE ${name} SET ${limit} = 500`);
    // The first migration creates this schema too, and waits until this transaction has ended.
    await other.query('BEGIN');
    await other.query('CREATE SCHEMA archivist');
    const opened = openPostgresql(url.href, silent);
    await Promise.race([opened, wait(1_500)]);
    await other.end();
    await (await opened).close();
    const owner = await openServerOwner(url.href);
    await owner.client.query('BEGIN');
    await wait(1_000);
    await owner.client.query('SELECT pg_sleep(1)');
    await owner.client.query('COMMIT');
    await wait(1_000);
    await owner.client.query('SELECT 1');
    await owner.close();
  });

  it('compiles none of our statements, whatever it expects of them', async () => {
    await admin.query(`ALTER DATABASE ${name} SET jit_above_cost = 0`);
    await admin.query(`ALTER DATABASE ${name} SET jit = on`);
    const explain = 'EXPLAIN SELECT count(n::text) FROM generate_series(1, 100) AS n';
    const plan = (rows: Record<string, unknown>[]) => rows.map((row) => row['QUERY PLAN']).join('\n');
    const plain = new pg.Client({ connectionString: url.href });
    await plain.connect();
    // Without a compiler on the server, this test proves nothing.
    const { rows } = await plain.query('SELECT pg_jit_available() AS compiles');
    expect(plan((await plain.query(explain)).rows).includes('JIT')).toBe(rows[0].compiles);
    await plain.end();
    const database = await openPostgresql(url.href, silent);
    expect(plan((await database.queuePool.query(explain)).rows)).not.toContain('JIT');
    await database.close();
  });

  it('commits durably for us, though the database is set not to', async () => {
    await admin.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    const database = await openPostgresql(url.href, silent);
    await expect(requireDurableCommits(database.queuePool)).resolves.toBeUndefined();
    const plain = new pg.Client({ connectionString: url.href });
    await plain.connect();
    await expect(requireDurableCommits(plain)).rejects.toThrow('synchronous_commit off');
    await plain.end();
    await database.close();
  });

  it('may give answers that cannot be read: each ends its connection, never the process', async () => {
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    const database = await openPostgresql(url.href, silent);
    const announcements = notifiedAnnouncements(url.href, silent);
    const thrown: unknown[] = [];
    const onThrown = (error: unknown) => thrown.push(error);
    process.on('uncaughtException', onThrown);
    const ask = () =>
      Promise.allSettled([
        database.inTransaction('system', (tx) => tx.query('SELECT 7 AS number')),
        database.queuePool.query('SELECT 7 AS number'),
      ]);
    for (let round = 0; round < 20; round++) {
      proxy.become('misread');
      for (const { status } of await ask()) expect(status).toBe('rejected');
      proxy.become('well');
      for (const { status } of await ask()) expect(status).toBe('fulfilled');
    }
    process.off('uncaughtException', onThrown);
    expect(thrown).toEqual([]);
    await announcements.close();
    await database.close();
    await proxy.close();
  });

  it.each([
    // What such a pooler does as long as nobody else asks.
    { how: 'all connections use one session', order: [0] },
    { how: 'its sessions are used in turn', order: [0, 1] },
    { how: 'others use its sessions too', order: [0, 0, 1, 0, 0, 0] },
  ])('is refused behind a pooler that gives every transaction a session: $how', async ({ order }) => {
    const sessions = [0, 1].map(() => new pg.Client({ connectionString: url.href }));
    for (const session of sessions) await session.connect();
    let asked = 0;
    let taken = 0;
    const connect = async () => {
      taken += 1;
      return {
        query: (text: string) => sessions[order[asked++ % order.length]!]!.query(text),
        release: () => {
          taken -= 1;
        },
      };
    };
    await expect(requireOwnSession({ connect })).rejects.toThrow('a pooler in transaction mode is unsupported');
    expect(taken).toBe(0);
    for (const session of sessions) await session.end();
  });

  it('that is not there is an error, and leaves nothing running', async () => {
    await expect(openPostgresql('postgres://127.0.0.1:1/none', silent)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
