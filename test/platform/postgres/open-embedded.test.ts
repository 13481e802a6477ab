import { fsyncSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openEmbedded } from '../../../src/platform/postgres/open-embedded.js';
import { openEmbeddedOwner } from '../../../src/platform/postgres/owner-connection.js';
import { embeddedDataDir } from '../../support/engines.js';
import { turnsDuring } from '../../support/turns-during.js';

const NEW_TENANCY = `INSERT INTO archivist.tenancy VALUES (gen_random_uuid(), 'organisation', 'x', '', 'w', now())`;

describe('the embedded database', () => {
  it('calls fsync exactly once for each commit, and not for a read', async () => {
    const dataDir = await embeddedDataDir();
    let syncs = 0;
    const count = (descriptor: number): void => {
      syncs += 1;
      fsyncSync(descriptor);
    };
    const database = await openEmbedded(join(dataDir, 'embedded'), { sync: count });
    const write = () => database.inTransaction('system', (tx) => tx.execute(NEW_TENANCY));
    await write();
    syncs = 0;
    for (let commit = 0; commit < 25; commit += 1) await write();
    expect(syncs).toBe(25);
    await database.inTransaction('system', (tx) => tx.query('SELECT FROM archivist.tenancy'));
    expect(syncs).toBe(25);
    await database.close();
    await rm(dataDir, { recursive: true });
  });

  it('keeps what it committed over a restart, and removes a cluster that was never finished', async () => {
    const dataDir = await embeddedDataDir();
    const folder = join(dataDir, 'embedded');
    await mkdir(join(folder, 'postgres.unfinished'));
    await writeFile(join(folder, 'postgres.unfinished', 'PG_VERSION'), '18');
    const first = await openEmbedded(folder);
    await first.inTransaction('system', (tx) => tx.execute(NEW_TENANCY));
    await first.close();
    const second = await openEmbedded(folder);
    const rows = await second.inTransaction('system', (tx) => tx.query('SELECT kind FROM archivist.tenancy'));
    expect(rows).toEqual([{ kind: 'organisation' }]);
    await second.close();
    await rm(dataDir, { recursive: true });
  });

  it('opens over a lock of the engine that a crash has left empty, or full of zeros', async () => {
    const dataDir = await embeddedDataDir();
    const folder = join(dataDir, 'embedded');
    for (const left of ['', '\0'.repeat(55)]) {
      await writeFile(join(folder, 'postgres', 'postmaster.pid'), left);
      await (await openEmbedded(folder)).close();
    }
    await rm(dataDir, { recursive: true });
  });

  it('analyses tables that have grown, and leaves the session to the service as it was', async () => {
    const dataDir = await embeddedDataDir();
    const database = await openEmbedded(join(dataDir, 'embedded'), { upkeepEveryMs: 20 });
    const ask = async (text: string) => (await database.inTransaction('system', (tx) => tx.query(text)))[0];
    const tuples = () =>
      ask(`SELECT reltuples > 4000 AS known FROM pg_class WHERE oid = 'archivist.tenancy'::regclass`);
    const session = () => ask(`SELECT current_user, current_setting('default_statistics_target') AS detail`);
    const before = await session();
    expect(await tuples()).toEqual({ known: false });
    await database.inTransaction('system', (tx) =>
      tx.execute(NEW_TENANCY.replace(/VALUES \((.*)\)$/, 'SELECT $1 FROM generate_series(1, 5000)')),
    );
    await expect.poll(tuples, { timeout: 10_000 }).toEqual({ known: true });
    expect(await session()).toEqual(before);
    await database.close();
    await rm(dataDir, { recursive: true });
  });

  it('makes a checkpoint whenever its write-ahead log has become long, and leaves the session to the service', async () => {
    const dataDir = await embeddedDataDir();
    const database = await openEmbedded(join(dataDir, 'embedded'), { upkeepEveryMs: 20, checkpointAfter: 1_000_000 });
    const ask = async (text: string) => (await database.inTransaction('system', (tx) => tx.query(text)))[0];
    const checkpoint = () => ask('SELECT redo_lsn::text FROM pg_control_checkpoint()');
    const role = await ask('SELECT current_user');
    for (let round = 0; round < 2; round += 1) {
      const before = await checkpoint();
      await database.inTransaction('system', (tx) =>
        tx.execute(NEW_TENANCY.replace(/VALUES \((.*)\)$/, 'SELECT $1 FROM generate_series(1, 8000)')),
      );
      await expect.poll(checkpoint, { timeout: 20_000 }).not.toEqual(before);
    }
    expect(await ask('SELECT current_user')).toEqual(role);
    await database.close();
    await rm(dataDir, { recursive: true });
  });

  it('refuses a second start on its folder, and lets it start after a close', async () => {
    const dataDir = await embeddedDataDir();
    const folder = join(dataDir, 'embedded');
    const database = await openEmbedded(folder);
    await expect(openEmbedded(folder)).rejects.toThrow(/another process uses .*embedded/);
    await expect(database.ping()).resolves.toBeUndefined();
    await database.close();
    await (await openEmbedded(folder)).close();
    await rm(dataDir, { recursive: true });
  });

  it('does not open while the service’s role would see the rows of every tenancy', async () => {
    const dataDir = await embeddedDataDir();
    const folder = join(dataDir, 'embedded');
    const owner = await openEmbeddedOwner(folder, false);
    await owner.client.query('ALTER ROLE vcon_archivist_service BYPASSRLS');
    await owner.close();
    await expect(openEmbedded(folder)).rejects.toThrow(
      'the database role in force, vcon_archivist_service, bypasses row-level security: the service does not start',
    );
    // Whoever corrects the role finds the database closed.
    await (await openEmbeddedOwner(folder, false)).close();
    await rm(dataDir, { recursive: true });
  });

  it('says so instead of waiting for ever when work inside a transaction opens another one', async () => {
    const dataDir = await embeddedDataDir();
    const database = await openEmbedded(join(dataDir, 'embedded'));
    const nested = database.inTransaction('system', () => database.ping());
    await expect(nested).rejects.toThrow('timeout exceeded');
    await expect(database.ping()).resolves.toBeUndefined();
    await database.close();
    await rm(dataDir, { recursive: true });
  });

  it('takes values of every kind as they are, in the order of the statements that were sent together', async () => {
    const dataDir = await embeddedDataDir();
    const database = await openEmbedded(join(dataDir, 'embedded'));
    const texts = ['', 'é"\\\n', '\u{1f600}', 'x'.repeat(3_000_000), '€'.repeat(700_000)];
    const bytes = Uint8Array.from({ length: 100_000 }, (_, place) => place % 256);
    const read = await database.inTransaction('system', (tx) =>
      Promise.all([
        ...texts.map((text) => tx.query<{ value: unknown }>('SELECT $1::text AS value', [text])),
        tx.query<{ value: unknown }>('SELECT $2::bytea AS value, $1::text', [null, Buffer.from(bytes)]),
        tx.query<{ value: unknown }>('SELECT $1::jsonb -> 1 AS value', ['[1,{"a":null}]']),
        tx.query<{ value: unknown }>('SELECT $1::text IS NULL AS value', [undefined]),
      ]),
    );
    expect(read.map(([row]) => row!.value)).toEqual([...texts, Buffer.from(bytes), { a: null }, true]);
    const wrong = database.inTransaction('system', (tx) => tx.query('SELECT $1::int', ['no number']));
    await expect(wrong).rejects.toThrow('invalid input syntax');
    await expect(database.ping()).resolves.toBeUndefined();
    await database.close();
    await rm(dataDir, { recursive: true });
  });

  it('lets other work go on between the queries of one transaction', async () => {
    const dataDir = await embeddedDataDir();
    const database = await openEmbedded(join(dataDir, 'embedded'));
    const queries = 10;
    const turns = await database.inTransaction('system', (tx) =>
      turnsDuring(async () => {
        for (let query = 0; query < queries; query += 1)
          await tx.query('SELECT count(*) FROM generate_series(1, 200000)');
      }),
    );
    expect(turns).toBeGreaterThanOrEqual(queries - 1);
    await database.close();
    await rm(dataDir, { recursive: true });
  });

  it('lets other work go on while a statement runs, in the built program', async () => {
    const dataDir = await embeddedDataDir();
    const built = new URL('../../../dist/src/platform/postgres/open-embedded.js', import.meta.url).href;
    const database = await ((await import(built)) as { openEmbedded: typeof openEmbedded }).openEmbedded(
      join(dataDir, 'embedded'),
    );
    const turns = await database.inTransaction('system', (tx) =>
      turnsDuring(() => tx.query('SELECT count(*) FROM generate_series(1, 1000000)')),
    );
    // On the same thread there is one before the statement and one after it.
    expect(turns).toBeGreaterThan(50);
    await database.close();
    await rm(dataDir, { recursive: true });
  });

  it('tells every listening client of the queue what a commit has notified, and none that was released', async () => {
    const dataDir = await embeddedDataDir();
    const database = await openEmbedded(join(dataDir, 'embedded'));
    const heard: unknown[] = [];
    const clients = await Promise.all(['first', 'second'].map(() => database.queuePool.connect()));
    for (const [place, client] of clients.entries())
      client.on('notification', ({ channel, payload }) => heard.push([place, channel, payload]));
    await clients[0]!.query('LISTEN spoken');
    await database.inTransaction('system', (tx) => tx.query(`SELECT pg_notify('spoken', 'once')`));
    clients[0]!.release();
    await database.inTransaction('system', (tx) => tx.query(`SELECT pg_notify('spoken', 'again')`));
    expect(heard).toEqual([
      [0, 'spoken', 'once'],
      [1, 'spoken', 'once'],
      [1, 'spoken', 'again'],
    ]);
    await database.close();
    await rm(dataDir, { recursive: true });
  });
});
