import type { Database } from '../../src/platform/postgres/database.js';
import { anotherValue, asSuperuser, type Column, someValue } from './superuser-rig.js';

/** One change of one row, and how it is undone. */
export interface Tampering {
  /** Such as `update asset_event.operation`. */
  readonly name: string;
  readonly table: string;
  readonly column?: string;
  /** Applies the change. Resolves with how many rows it touched: none where the table's own constraints refuse it. */
  apply(): Promise<number>;
  undo(): Promise<void>;
}

const FIXED = ['tenant_id', 'log_id'];

/**
 * The changes that a superuser can make to a table: a row inserted, each column of a row updated, a row deleted. The row is
 * the first one that `where` finds, or one that is made up where the table is empty.
 * @param own the table's columns
 */
export function tamperings(
  database: Database,
  own: readonly Column[],
  options: {
    readonly tenantId: string;
    readonly where?: (column?: string) => string;
    readonly order?: string | undefined;
    /** Changes all columns that are not unique in one update, in place of each by itself. */
    readonly together?: boolean;
  },
): Tampering[] {
  const { table } = own[0]!;
  const stored = own.filter(({ generated }) => generated === 'NEVER');
  const names = stored.map(({ column }) => column).join(', ');
  const keys = own.filter(({ key }) => key);
  const unique = own.filter((each) => each.unique);
  const loose = unique.filter(({ column }) => !FIXED.includes(column));
  const renamed = loose.length > 0 ? loose : unique;
  const run = (sql: string) => asSuperuser<{ done: boolean }>(database, sql);
  let madeUp = false;
  let inserted = 0;

  async function keep(column?: string): Promise<void> {
    const where = options.where?.(column) ?? 'true';
    await run('DROP TABLE IF EXISTS public.kept');
    const order = options.order ?? keys.map((each) => each.column).join(', ');
    const select = `SELECT * FROM archivist.${table} WHERE ${where} ORDER BY ${order} LIMIT 1`;
    await run(`CREATE TABLE public.kept AS ${select}`);
    madeUp = (await run('SELECT true AS done FROM public.kept')).length === 0;
    if (!madeUp) return;
    await insert(stored.map((each) => someValue(each, options.tenantId)).join(', '), '');
    await run(`INSERT INTO public.kept ${select}`);
  }

  /** What a constraint of the table refuses touches no row. */
  const unlessRefused = (sql: string) =>
    run(sql).catch((error: { code?: string }) => {
      if (error.code?.startsWith('23')) return [];
      throw error;
    });
  const insert = (values: string, from: string) =>
    unlessRefused(
      `INSERT INTO archivist.${table} (${names}) SELECT ${values} ${from} ON CONFLICT DO NOTHING RETURNING true AS done`,
    );
  const same = (changed: readonly Column[]) =>
    keys
      .map(
        (each) =>
          `x.${each.column} = ${changed.includes(each) ? anotherValue(each, `k.${each.column}`) : `k.${each.column}`}`,
      )
      .join(' AND ');
  const remove = (changed: readonly Column[]) =>
    run(`DELETE FROM archivist.${table} x USING public.kept k WHERE ${same(changed)} RETURNING true AS done`);
  const set = (column: Column, value: string, changed: readonly Column[]) =>
    unlessRefused(
      `UPDATE archivist.${table} x SET ${column.column} = ${value} FROM public.kept k WHERE ${same(changed)} RETURNING true AS done`,
    );
  const finish = async () => {
    if (madeUp) await remove([]);
  };
  const copy = stored
    .map((each) => (renamed.includes(each) ? anotherValue(each, `k.${each.column}`) : `k.${each.column}`))
    .join(', ');

  function allColumnsAtOnce(): Tampering {
    const others = stored.filter(({ unique: isUnique }) => !isUnique);
    const assign = (value: (column: Column) => string) =>
      unlessRefused(
        `UPDATE archivist.${table} x SET ${others.map((each) => `${each.column} = ${value(each)}`).join(', ')}
           FROM public.kept k WHERE ${same([])} RETURNING true AS done`,
      );
    return {
      name: `update ${table}`,
      table,
      apply: async () => {
        await keep();
        return others.length === 0 ? 0 : (await assign((each) => anotherValue(each, `k.${each.column}`))).length;
      },
      undo: async () => {
        if (others.length > 0) await assign((each) => `k.${each.column}`);
        await finish();
      },
    };
  }

  return [
    {
      name: `insert into ${table}`,
      table,
      apply: async () => {
        await keep();
        inserted = (await insert(copy, 'FROM public.kept k')).length;
        return inserted;
      },
      undo: async () => {
        if (inserted > 0) await remove(renamed);
        await finish();
      },
    },
    ...(options.together
      ? [allColumnsAtOnce()]
      : stored.map((column) => ({
          name: `update ${table}.${column.column}`,
          table,
          column: column.column,
          apply: async () => {
            await keep(column.column);
            return (await set(column, anotherValue(column, `k.${column.column}`), [])).length;
          },
          undo: async () => {
            await set(column, `k.${column.column}`, [column]);
            await finish();
          },
        }))),
    {
      name: `delete from ${table}`,
      table,
      apply: async () => {
        await keep();
        return (await remove([])).length;
      },
      undo: async () => {
        if (!madeUp) await insert(stored.map(({ column }) => `k.${column}`).join(', '), 'FROM public.kept k');
      },
    },
  ];
}
