import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusalOf } from '../../../src/platform/http/error-reply.js';
import { DatabaseReadOnly } from '../../../src/platform/postgres/transient-errors.js';
import { engines, type TestDatabase } from '../../support/engines.js';
import { serverUrl } from '../../support/prerequisites.js';

const NEW_TENANCY = `INSERT INTO archivist.tenancy VALUES (gen_random_uuid(), 'organisation', 'x', '', 'w', now())`;
const engine = engines().find(({ name }) => name === 'PostgreSQL');

describe.skipIf(!engine)('a connection to a PostgreSQL server that only reads', () => {
  let opened: TestDatabase;
  let administrator: pg.Client;
  let name: string;
  beforeAll(async () => {
    opened = await engine!.open();
    name = new URL(opened.environment.DATABASE_URL!).pathname.slice(1);
    administrator = new pg.Client({ connectionString: serverUrl! });
    await administrator.connect();
  });
  afterAll(async () => {
    await administrator.end();
    await opened.close();
  });

  /** For new connections; those that are there stay as they are. */
  const onlyReads = (setting: 'on' | 'off') =>
    administrator.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${setting}`);
  const disconnectAll = () =>
    administrator.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
  const write = () => opened.database.inTransaction('system', (tx) => tx.execute(NEW_TENANCY));

  it('is no database that answers, refuses writes with 503 and serves reads, and is not used again', async () => {
    await expect(opened.database.ping()).resolves.toBeUndefined();
    await onlyReads('on');
    await disconnectAll();
    const failure = () => opened.database.ping().catch((error: unknown) => error);
    await expect.poll(failure).toBeInstanceOf(DatabaseReadOnly);
    const refused = await write().catch((error: unknown) => error);
    expect(refusalOf(refused)).toMatchObject({ code: 'unavailable', status: 503 });
    const tenancies = (tx: { query(text: string): Promise<object[]> }) => tx.query('SELECT FROM archivist.tenancy');
    expect(await opened.database.inTransaction('system reading', tenancies)).toEqual([]);
    // As after a fail-over: the service has connections to a standby, and new ones lead to the primary.
    await onlyReads('off');
    expect(await write()).toBe(1);
    await expect.poll(failure).toBeUndefined();
  });
});
