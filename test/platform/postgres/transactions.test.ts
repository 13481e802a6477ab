import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SEQUENCER, SEQUENCER_READING } from '../../../src/ledger/log-store.js';
import type { SqlStatement, Tx } from '../../../src/platform/postgres/database.js';
import { openPostgresql } from '../../../src/platform/postgres/open-postgresql.js';
import { engines, type TestDatabase } from '../../support/engines.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';

const silent = pino({ level: 'silent' });
const TENANT = '0190a8c0-0000-7000-8000-000000000001';
const OTHER = '0190a8c0-0000-7000-8000-000000000002';
const NEW_TENANCY = `INSERT INTO archivist.tenancy VALUES ($1, 'organisation', 'x', '', 'w', now())`;

describe.each(engines())('a transaction on %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
  });
  afterAll(() => opened.close());

  it('reads int8 as bigint, bytea as bytes, jsonb parsed, timestamptz as Date', async () => {
    const [row] = await opened.database.inTransaction('system', (tx) =>
      tx.query(
        `SELECT 9223372036854775807::int8 AS wide, NULL::int8 AS none, '{1,NULL}'::int8[] AS wides, $1::bytea AS bytes,
                '{"a":[1]}'::jsonb AS tree, '2026-01-02T03:04:05.678Z'::timestamptz AS at`,
        [new Uint8Array([0, 255])],
      ),
    );
    expect(row).toMatchObject({ wide: 9223372036854775807n, none: null, wides: [1n, null], tree: { a: [1] } });
    expect(new Uint8Array(row!['bytes'] as Uint8Array)).toEqual(new Uint8Array([0, 255]));
    expect(row!['at']).toEqual(new Date('2026-01-02T03:04:05.678Z'));
  });

  it('reads the names of jsonb as they are written, also after JSON by which V8 learns to take one for another', async () => {
    JSON.parse(String.raw`{"!":[],"\\":0}`);
    const names = async (text: string) => {
      const [row] = await opened.database.inTransaction('system', (tx) =>
        tx.query<{ value: object }>('SELECT $1::jsonb AS value', [text]),
      );
      return Object.keys(row!.value);
    };
    expect(await names(String.raw`{"!":1,"\"":2}`)).toEqual(['!', '"']);
  });

  it('binds bigints, arrays of bigints and arrays of bytes', async () => {
    const [row] = await opened.database.inTransaction('system', (tx) =>
      tx.query('SELECT $1::int8 AS one, $2::int8[] AS many, $3::bytea[] AS bytes', [
        2n ** 62n,
        [1n, 2n],
        [new Uint8Array([1, 2]), null],
      ]),
    );
    expect([row!['one'], row!['many']]).toEqual([2n ** 62n, [1n, 2n]]);
    const bytes = row!['bytes'] as (Uint8Array | null)[];
    expect([new Uint8Array(bytes[0]!), bytes[1]]).toEqual([new Uint8Array([1, 2]), null]);
  });

  it('tells why the first of the statements that were sent together failed, also for those after it', async () => {
    let reasons: unknown[] = [];
    const work = opened.database.inTransaction('system', async (tx) => {
      const sent = await Promise.allSettled([tx.query('SELECT 1 / 0'), tx.query('SELECT 1'), tx.execute('SELECT 2')]);
      reasons = sent.map((each) => each.status === 'rejected' && String(each.reason));
    });
    await expect(work).rejects.toThrow();
    expect(reasons).toEqual(Array(3).fill('error: division by zero'));
  });

  it('keeps nothing of work that throws, and tells its error', async () => {
    const work = opened.database.inTransaction('system', async (tx) => {
      await tx.execute(NEW_TENANCY, [TENANT]);
      throw new RangeError('thought better of it');
    });
    await expect(work).rejects.toThrow(RangeError);
    const rows = await opened.database.inTransaction('system', (tx) => tx.query('SELECT FROM archivist.tenancy'));
    expect(rows).toEqual([]);
  });

  it('has the settings of its scope until it ends, and reads only where its scope does', async () => {
    const { database } = opened;
    const settings = { lock_timeout: '1234ms', enable_sort: 'off' };
    const show = async (tx: Tx) => {
      const [row] = await tx.query(
        `SELECT current_setting('lock_timeout') AS lock, current_setting('enable_sort') AS sort,
                current_setting('archivist.scope') AS scope`,
      );
      return Object.values(row!);
    };
    for (const system of ['writing', 'reading'] as const)
      expect(await database.inTransaction({ system, settings }, show)).toEqual(['1234ms', 'off', 'system']);
    expect(await database.inTransaction('system', show)).not.toEqual(['1234ms', 'off', 'system']);
    const write = database.inTransaction({ system: 'reading', settings }, (tx) => tx.execute(NEW_TENANCY, [TENANT]));
    await expect(write).rejects.toMatchObject({ code: '25006' });
  });

  it('has no limit on how long it is idle where no session can be ended: 60 s on a server, and 10 s for a sequencer', async () => {
    const limits = await Promise.all(
      (['system', SEQUENCER, SEQUENCER_READING] as const).map((scope) =>
        opened.database.inTransaction(scope, async (tx) => {
          const [row] = await tx.query<Record<string, string>>('SHOW idle_in_transaction_session_timeout');
          return Object.values(row!)[0];
        }),
      ),
    );
    expect(limits).toEqual(engine.name === 'PostgreSQL' ? ['1min', '10s', '10s'] : ['0', '0', '0']);
  });

  it('never says that it committed when work has swallowed the error of a statement', async () => {
    const work = opened.database.inTransaction('system', async (tx) => {
      await tx.execute(NEW_TENANCY, [TENANT]);
      await tx.query('SELECT 1/0').catch(() => undefined);
    });
    await expect(work).rejects.toThrow('nothing was committed');
  });

  it('runs work again after a deadlock or a serialization failure, and no more than five times', async () => {
    let runs = 0;
    const failing = (times: number, state: string) =>
      opened.database.inTransaction('system', async (tx) => {
        runs += 1;
        if (runs <= times) await tx.query(`DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '${state}'; END $$`);
        return runs;
      });
    expect(await failing(2, '40P01')).toBe(3);
    runs = 0;
    await expect(failing(100, '40001')).rejects.toMatchObject({ code: '40001' });
    expect(runs).toBe(5);
    runs = 0;
    await expect(failing(100, '23505')).rejects.toMatchObject({ code: '23505' });
    expect(runs).toBe(1);
  });

  it('commits a list of statements, or nothing if one of them fails, and runs it again after a conflict', async () => {
    const { database, asOwner } = opened;
    let runs = 0;
    const conflict = { text: `DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$`, values: [] };
    const stored = (tenant: string) => ({ text: NEW_TENANCY, values: [tenant] });
    const count = async () => {
      runs += 1;
    };
    await expect(database.commitTogether('system', [stored(TENANT), conflict], count)).rejects.toMatchObject({
      code: '40001',
    });
    expect(runs).toBe(5);
    await database.commitTogether('system', [stored(OTHER)], async () => {
      runs += 1;
      if (runs < 8) throw Object.assign(new Error('again'), { code: '40001' });
    });
    expect(runs).toBe(8);
    expect(await asOwner('SELECT tenant_id FROM archivist.tenancy')).toEqual([{ tenant_id: OTHER }]);
    await asOwner('DELETE FROM archivist.tenancy');
  });

  it('tells of a list the refusal of the first statement that fails, and commits nothing', async () => {
    const { database, asOwner } = opened;
    const refused = (reason: string) => ({
      text: 'SELECT 1 / $1::int',
      values: [0],
      refusal: (error: unknown) => new RangeError(`${reason}: ${(error as { code: string }).code}`),
    });
    const work = database.commitTogether('system', [
      { text: NEW_TENANCY, values: [OTHER] },
      refused('first'),
      refused('second'),
    ]);
    await expect(work).rejects.toThrow(new RangeError('first: 22012'));
    expect(await asOwner('SELECT FROM archivist.tenancy')).toEqual([]);
  });

  it('commits nothing of a list when what comes before the commit fails', async () => {
    const { database, asOwner } = opened;
    const work = database.commitTogether('system', [{ text: NEW_TENANCY, values: [OTHER] }], async () => {
      throw new RangeError('stopped before the commit');
    });
    await expect(work).rejects.toThrow(RangeError);
    expect(await asOwner('SELECT FROM archivist.tenancy')).toEqual([]);
  });

  it('commits what work did and the statements that it left, or neither', async () => {
    const { database, asOwner } = opened;
    const tenancy = (tenant: string) => ({ text: NEW_TENANCY, values: [tenant] });
    const decide = (...statements: SqlStatement[]) =>
      database.commitDecided('system', async (tx) => {
        await tx.execute(NEW_TENANCY, [TENANT]);
        return { result: 'decided', statements };
      });
    await expect(decide(tenancy(OTHER), { text: 'SELECT 1 / $1::int', values: [0] })).rejects.toMatchObject({
      code: '22012',
    });
    expect(await asOwner('SELECT FROM archivist.tenancy')).toEqual([]);
    expect(await decide({ ...tenancy(OTHER), isLong: true }, { text: 'SELECT 1', values: [] })).toBe('decided');
    expect(await asOwner('SELECT FROM archivist.tenancy')).toHaveLength(2);
    await asOwner('DELETE FROM archivist.tenancy');
  });

  it('does the work again when a statement that goes with the commit meets a conflict', async () => {
    const { database, asOwner } = opened;
    let attempts = 0;
    const conflict = {
      text: `DO $$BEGIN RAISE 'a conflict' USING ERRCODE = 'serialization_failure'; END$$`,
      values: [],
    };
    const decide = () =>
      database.commitDecided('system', async () => {
        attempts += 1;
        return {
          result: attempts,
          statements: [{ text: NEW_TENANCY, values: [OTHER] }, ...(attempts === 1 ? [conflict] : [])],
        };
      });
    expect(await decide()).toBe(2);
    expect(await asOwner('SELECT FROM archivist.tenancy')).toHaveLength(1);
    await asOwner('DELETE FROM archivist.tenancy');
  });

  it('that reads at once ends with the statements of its work, takes none after them, and never writes', async () => {
    const { database, asOwner } = opened;
    const read = database.readAtOnce('system reading', async (tx) => {
      const [one, two] = await Promise.all([tx.query('SELECT 1 AS n'), tx.query('SELECT 2 AS n')]);
      return [...one, ...two];
    });
    expect(await read).toEqual([{ n: 1 }, { n: 2 }]);
    const failing = database.readAtOnce('system reading', (tx) =>
      Promise.all([tx.query('SELECT 1 / $1::int', [0]), tx.query('SELECT 1')]),
    );
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    const late = database.readAtOnce('system reading', async (tx) => {
      await tx.query('SELECT 1');
      await tx.query('SELECT 2');
    });
    await expect(late).rejects.toThrow('no statement may follow');
    const write = (tx: Tx) => tx.execute(NEW_TENANCY, [TENANT]);
    await expect(database.readAtOnce('system reading', write)).rejects.toMatchObject({ code: '25006' });
    for (const scope of ['system', { read: [TENANT], write: [TENANT] }] as const)
      await expect(database.readAtOnce(scope, write)).rejects.toThrow(TypeError);
    expect(await asOwner('SELECT FROM archivist.tenancy')).toEqual([]);
  });

  it('makes the statement after a long one when that has run, and tells the refusal of the first that fails', async () => {
    const { database, asOwner } = opened;
    const made: string[] = [];
    function* statements(): Generator<SqlStatement> {
      for (const [name, by, isLong] of [
        ['short', 0, false],
        ['long', 1, true],
        ['last', 1, false],
      ] as const) {
        made.push(name);
        yield { text: 'SELECT 1 / $1::int', values: [by], isLong, refusal: () => new RangeError(name) };
      }
    }
    const work = database.commitDecided('system', async () => ({ result: undefined, statements: statements() }));
    await expect(work).rejects.toThrow(new RangeError('short'));
    expect(made).toEqual(['short', 'long']);
    expect(await asOwner('SELECT FROM archivist.tenancy')).toEqual([]);
  });

  it.each(['committed', 'rolled back'])(
    'takes no statement when it is %s: the connection has other work',
    async (end) => {
      let late: Tx | undefined;
      await opened.database
        .inTransaction('system', async (tx) => {
          late = tx;
          await tx.query('SELECT 1');
          if (end === 'rolled back') throw new RangeError('thought better of it');
        })
        .catch(() => undefined);
      await expect(late!.execute(NEW_TENANCY, [OTHER])).rejects.toThrow('no statement may follow');
      await expect(late!.query('SELECT 1')).rejects.toThrow('no statement may follow');
      expect(await opened.asOwner('SELECT FROM archivist.tenancy')).toEqual([]);
    },
  );

  it('sends no statement after its rollback, also of work that fails beside its last one', async () => {
    const late = `SELECT set_config('archivist.late', 'sent', false)`;
    const work = opened.database.inTransaction('system', async (tx) => {
      await tx.query('SELECT 1');
      tx.execute(late).catch(() => undefined);
      throw new RangeError('thought better of it');
    });
    await expect(work).rejects.toThrow(RangeError);
    const [row] = await opened.database.inTransaction('system', (tx) =>
      tx.query(`SELECT current_setting('archivist.late', true) AS late`),
    );
    expect(row!['late'] ?? '').toBe('');
  });

  it('writes nothing in a scope that only reads', async () => {
    const { database } = opened;
    for (const scope of ['system reading', { read: [TENANT], write: [] }] as const) {
      const written = database.inTransaction(scope, (tx) => tx.execute(NEW_TENANCY, [TENANT]));
      await expect(written).rejects.toMatchObject({ code: '25006' });
      const read = database.inTransaction(scope, (tx) => tx.query('SELECT 1 AS one'));
      await expect(read).resolves.toEqual([{ one: 1 }]);
    }
  });

  it('forgets its scope with its end, on the same connection', async () => {
    await opened.database.inTransaction({ read: [TENANT], write: [OTHER] }, async (tx) => {
      const [row] = await tx.query(
        `SELECT archivist.readable_tenancies() AS r, archivist.writable_tenancies() AS w, archivist.system_scope() AS s`,
      );
      expect(row).toEqual({ r: [TENANT], w: [OTHER], s: false });
    });
    const settings = await opened.database.queuePool.query(
      `SELECT coalesce(current_setting('archivist.readable', true), '') AS r`,
    );
    expect(settings.rows).toEqual([{ r: '' }]);
    await opened.database.inTransaction({ read: [], write: [] }, async (tx) => {
      const [row] = await tx.query(
        `SELECT archivist.readable_tenancies() AS r, archivist.writable_tenancies() AS w, archivist.system_scope() AS s`,
      );
      expect(row).toEqual({ r: [], w: [], s: false });
    });
  });

  it('takes nothing but UUIDs as a scope', async () => {
    const scope = { read: [`${TENANT}},{${OTHER}`], write: [] };
    await expect(opened.database.inTransaction(scope, async () => 'ran')).rejects.toThrow(TypeError);
  });

  it('gives every connection back, whatever happens to it', async () => {
    const fail = () => opened.database.inTransaction('system', (tx) => tx.query('SELECT nonsense'));
    for (let round = 0; round < 30; round += 1) await expect(fail()).rejects.toMatchObject({ code: '42703' });
    await expect(opened.database.ping()).resolves.toBeUndefined();
  });

  it('gives the same answers when a statement is sent often, also after a failure between', async () => {
    const numbers: number[] = [];
    for (let times = 0; times < 6; times += 1) {
      const [row] = await opened.database.inTransaction('system', (tx) =>
        tx.query<{ n: number }>('SELECT $1::int + 1 AS n', [times]),
      );
      numbers.push(row!.n);
      const fails = opened.database.inTransaction('system', (tx) => tx.query('SELECT 1 / $1::int AS n', [0]));
      await expect(fails).rejects.toMatchObject({ code: '22012' });
    }
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('goes on without names when a connection has lost them, as behind a pooler that changes servers', async () => {
    const ask = (value: number) =>
      opened.database.inTransaction('system', async (tx) => (await tx.query('SELECT $1::int + 2 AS n', [value]))[0]);
    for (let times = 0; times < 6; times += 1) await ask(times);
    await Promise.all(
      Array.from({ length: opened.database.connections }, () =>
        opened.database.inTransaction('system', async (tx) => {
          await tx.execute('DEALLOCATE ALL');
          // Every connection is in use at once, so that each one is asked.
          await tx.execute('SELECT pg_sleep(0.2)');
        }),
      ),
    );
    expect(await ask(40)).toEqual({ n: 42 });
    expect(await ask(41)).toEqual({ n: 43 });
  });
});

const server = engines().find(({ name }) => name === 'PostgreSQL');

describe.skipIf(!server)('a transaction on a PostgreSQL server', () => {
  const engine = server!;
  /** A database behind a proxy. */
  async function proxied() {
    const { environment, asOwner, close } = await engine.open();
    const url = new URL(environment.DATABASE_URL!);
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    const database = await openPostgresql(url.href, silent);
    const end = async () => {
      await database.close();
      await proxy.close();
      await close();
    };
    return { database, proxy, asOwner, end };
  }

  it('leaves no rejection unhandled when its work throws at once and its connection is lost', async () => {
    const { database, proxy, end } = await proxied();
    await database.inTransaction('system', (tx) => tx.query('SELECT 1'));
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    proxy.become('cut');
    const work = database.inTransaction('system', () => {
      throw new RangeError('before it returned a promise');
    });
    await expect(work).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    await end();
  });

  it('that only reads is run again when its connection breaks, also with its end sent', async () => {
    const { database, proxy, end } = await proxied();
    let runs = 0;
    const read = await database.readAtOnce('system reading', (tx) => {
      runs += 1;
      if (runs === 1)
        setTimeout(() => {
          proxy.become('cut');
          proxy.become('well');
        }, 100);
      return tx.query('SELECT 1 AS one, pg_sleep($1)', [runs === 1 ? 30 : 0]);
    });
    expect([read, runs]).toMatchObject([[{ one: 1 }], 2]);
    await end();
  });

  it('is run again on a new connection when the server ends the old one', async () => {
    const { database, asOwner, close } = await engine.open();
    let runs = 0;
    const result = await database.inTransaction('system', async (tx) => {
      runs += 1;
      const [row] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      if (runs === 1) await asOwner('SELECT pg_terminate_backend($1)', [row!.pid]);
      return tx.query('SELECT 1 AS one');
    });
    expect([result, runs]).toEqual([[{ one: 1 }], 2]);
    await close();
  });

  it('is run again when its process stood still for longer than the server waits for its next statement', async () => {
    const { database, close } = await engine.open();
    const settings = { idle_in_transaction_session_timeout: '50ms' };
    let runs = 0;
    const result = await database.inTransaction({ system: 'writing', settings }, async (tx) => {
      runs += 1;
      await tx.query('SELECT 1');
      // Nothing is read meanwhile: the statement goes out before the end of the session is known.
      if (runs === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      return tx.query('SELECT 1 AS one');
    });
    expect([result, runs]).toEqual([[{ one: 1 }], 2]);
    await close();
  });

  it('is run again when its connection is known to be lost before its last statements go out with the commit', async () => {
    const { database, asOwner, close } = await engine.open();
    let runs = 0;
    const isLost = (tx: Tx) =>
      tx
        .query('SELECT 1')
        .then(() => false, String)
        .then((said) => /not queryable/.test(`${said}`));
    const result = await database.commitDecided('system', async (tx) => {
      runs += 1;
      const [row] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      if (runs === 1) {
        await asOwner('SELECT pg_terminate_backend($1)', [row!.pid]);
        await expect.poll(() => isLost(tx)).toBe(true);
      }
      return { result: runs, statements: [{ text: 'SELECT 1', values: [] }] };
    });
    expect([result, runs]).toEqual([2, 2]);
    await close();
  });

  it('is not run again when a pooler has lost the server with the commit sent: it may have been committed', async () => {
    const { database, proxy, asOwner, end } = await proxied();
    let runs = 0;
    const insert = { text: NEW_TENANCY.replace('$1', 'gen_random_uuid()'), values: [] };
    const work = database.commitTogether('system', [insert], async () => {
      runs += 1;
      proxy.become('lost');
      setTimeout(() => proxy.become('well'), 100);
    });
    await expect(work).rejects.toMatchObject({ code: '08P01' });
    expect(runs).toBe(1);
    expect(await asOwner('SELECT FROM archivist.tenancy')).toHaveLength(1);
    await end();
  });

  it('is not run again when its connection breaks after the commit was sent: it may have been committed', async () => {
    const { database, close } = await engine.open();
    let runs = 0;
    const kill = { text: 'SELECT pg_terminate_backend(pg_backend_pid())', values: [] };
    const work = database.commitTogether('system', [kill], async () => {
      runs += 1;
    });
    await expect(work).rejects.toThrow();
    expect(runs).toBe(1);
    await close();
  });
});
