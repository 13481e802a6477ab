import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendTogether, type UnsentStatement } from '../../../src/platform/postgres/send-together.js';
import { engines, type TestDatabase } from '../../support/engines.js';

interface Sent {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
  readonly hasRows?: boolean;
}

const engine = engines().find(({ name }) => name === 'PostgreSQL');

describe.skipIf(!engine)('statements sent together to a PostgreSQL server', () => {
  let opened: TestDatabase;
  let client: pg.Client;
  /** Answers of the server to a Sync. */
  let syncs = 0;
  beforeAll(async () => {
    opened = await engine!.open();
    client = new pg.Client({ connectionString: opened.environment.DATABASE_URL!, pipeline: true });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('CREATE TEMPORARY TABLE kept (n int)');
    const { connection } = client as unknown as { connection: pg.Connection };
    connection.on('readyForQuery', () => {
      syncs += 1;
    });
  });
  afterAll(async () => {
    await client?.end().catch(() => undefined);
    await opened?.close();
  });

  /** The rows of each or the number of its rows; the SQLSTATE or the message of a failure. */
  async function send(statements: readonly Sent[]): Promise<unknown[]> {
    const unsent: UnsentStatement[] = [];
    const results = statements.map(
      ({ text, values = [], name, hasRows = false }) =>
        new Promise<pg.QueryResult>((resolve, reject) => {
          unsent.push({ text, values, name, hasRows, resolve, reject });
        }),
    );
    sendTogether(client, unsent);
    const settled = await Promise.allSettled(results);
    return settled.map((each, place) => {
      if (each.status === 'rejected') return each.reason.code ?? each.reason.message;
      return statements[place]!.hasRows ? each.value.rows : each.value.rowCount;
    });
  }
  const insert = { text: 'INSERT INTO kept SELECT generate_series(1, $1::int)', name: 'insert' };
  const kept = async () => (await client.query('SELECT count(*)::int AS n FROM kept')).rows[0].n;

  it('are run in their order, and answered after one Sync', async () => {
    const before = syncs;
    const answers = await send([
      { text: 'BEGIN' },
      { ...insert, values: [3] },
      { ...insert, values: [2] },
      { text: 'SELECT count(*)::int AS n, $1::bytea AS bytes FROM kept', values: [Buffer.of(7)], hasRows: true },
      { text: 'COMMIT' },
    ]);
    expect(answers).toEqual([null, 3, 2, [{ n: 5, bytes: Buffer.of(7) }], null]);
    expect(syncs - before).toBe(1);
  });

  it('are not run after one that fails, a commit neither', async () => {
    const before = await kept();
    const answers = await send([
      { text: 'BEGIN' },
      { ...insert, values: [1] },
      { text: 'SELECT 1 / $1::int', values: [0], hasRows: true },
      { ...insert, values: [1] },
      { text: 'COMMIT' },
    ]);
    expect(answers).toEqual([null, 1, '22012', '25P02', '25P02']);
    await client.query('ROLLBACK');
    expect(await kept()).toBe(before);
  });

  it('are not sent after one whose values cannot be sent, a commit neither', async () => {
    const before = await kept();
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const answers = await send([
      { text: 'BEGIN' },
      { ...insert, values: [1] },
      { text: 'SELECT $1::jsonb', values: [circle] },
      { text: 'COMMIT' },
    ]);
    expect(answers).toEqual([null, 1, expect.stringContaining('circular'), '25P02']);
    await client.query('ROLLBACK');
    expect(await kept()).toBe(before);
  });

  it('keep the name of one whose values cannot be sent, whether it was sent before or not', async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const named = (name: string, value: unknown) => ({ text: `SELECT $1::jsonb AS ${name}`, name, values: [value] });
    expect(await send([named('sent_before', 1)])).toEqual([1]);
    for (const name of ['sent_before', 'refused_first']) {
      expect(await send([named(name, circle)])).toEqual([expect.stringContaining('circular')]);
      expect(await send([named(name, 2), named(name, 3)])).toEqual([1, 1]);
    }
    expect(await send([{ text: 'SELECT 1 / 0' }, named('refused_after', circle)])).toEqual([
      '22012',
      expect.stringContaining('circular'),
    ]);
    expect(await send([named('refused_after', 2)])).toEqual([1]);
  });

  it('each have their own answer, also beside an empty one and what the server tells in between', async () => {
    const number = (n: number) => ({ text: 'SELECT $1::int AS n', values: [n], hasRows: true });
    const answers = await send([
      number(1),
      { text: '' },
      number(2),
      { text: `DO $$ BEGIN RAISE NOTICE 'told'; END $$` },
      { text: `SELECT set_config('application_name', 'told', false), pg_notify('told', '')` },
      number(3),
      { text: 'LISTEN told' },
      { text: 'COPY (SELECT 1) TO STDOUT' },
      number(4),
    ]);
    expect(answers).toEqual([[{ n: 1 }], null, [{ n: 2 }], null, 1, [{ n: 3 }], null, 1, [{ n: 4 }]]);
  });

  it('have their names parsed again where one before them failed', async () => {
    const named = { text: 'SELECT $1::int + 1 AS n', name: 'after_a_failure', values: [1], hasRows: true };
    const failing = { text: 'SELECT 1 / $1::int', name: 'failing', values: [0] };
    expect(await send([failing, named])).toEqual(['22012', '25P02']);
    expect(await send([named, named])).toEqual([[{ n: 2 }], [{ n: 2 }]]);
    expect(await send([{ ...failing, values: [1] }])).toEqual([1]);
  });

  it('all fail with the connection', async () => {
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    const ended = new Promise((resolve) => client.once('end', resolve));
    const sleeping = send([{ text: 'SELECT 1' }, { text: 'SELECT pg_sleep(30)' }, { text: 'SELECT 2' }]);
    await opened.asOwner('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    const [, ...rest] = await sleeping;
    expect(rest).toEqual(['57P01', '25P02']);
    // Until the socket has ended, a statement is still sent, and fails with it.
    await ended;
    const late = await send([{ text: 'SELECT 1' }, { text: 'SELECT 2' }]);
    expect(late).toEqual(Array(2).fill(expect.stringMatching(/not queryable|terminated/)));
  });
});
