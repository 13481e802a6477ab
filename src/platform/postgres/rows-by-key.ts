import { type Columns, selected, type Table, typedColumns } from './columns.js';
import type { Tx } from './database.js';

/** The values of these members of a row. */
type Members<Row, Member extends keyof Row> = { readonly [M in Member]: NonNullable<Row[M]> };
/** New values of members of a row; undefined leaves a member as it is. */
type Change<Row> = { readonly [Member in keyof Row]?: NonNullable<Row[Member]> | undefined };

/**
 * Returns the row in which these members have the values that they have in `wanted`; undefined if there is no such row.
 * @param key members whose values at most one row has
 * @param rest the end of the statement: FOR UPDATE
 */
export async function findRow<T extends Table, Row extends object, Key extends keyof Row & string>(
  tx: Tx,
  from: Columns<T, Row>,
  key: readonly Key[],
  wanted: Members<Row, Key>,
  rest = '',
): Promise<Row | undefined> {
  const [row] = await tx.query<Row>(
    `SELECT ${selected(from, 'r')} FROM archivist.${from.table} r WHERE ${matching(from, key)} ${rest}`,
    key.map((member) => wanted[member]),
  );
  return row;
}

/** Deletes the rows in which these members have the values that they have in `wanted`. Resolves with their number. */
export function deleteRows<T extends Table, Row extends object, Key extends keyof Row & string>(
  tx: Tx,
  from: Columns<T, Row>,
  key: readonly Key[],
  wanted: Members<Row, Key>,
): Promise<number> {
  return tx.execute(
    `DELETE FROM archivist.${from.table} r WHERE ${matching(from, key)}`,
    key.map((member) => wanted[member]),
  );
}

/**
 * Deletes the row in which these members have these values, and resolves with it; undefined if there is no such row.
 */
export async function deleteRow<T extends Table, Row extends object, Key extends keyof Row & string>(
  tx: Tx,
  from: Columns<T, Row>,
  key: readonly Key[],
  wanted: Members<Row, Key>,
): Promise<Row | undefined> {
  const [row] = await tx.query<Row>(
    `DELETE FROM archivist.${from.table} r WHERE ${matching(from, key)} RETURNING ${selected(from, 'r')}`,
    key.map((member) => wanted[member]),
  );
  return row;
}

/**
 * Gives members of rows the values that they have in `row`, where the members of the key have theirs. Resolves with the
 * number of rows.
 * @param only rows that have these values now
 */
export function updateRows<
  T extends Table,
  Row extends object,
  Key extends keyof Row & string,
  Changed extends keyof Row & string,
>(
  tx: Tx,
  into: Columns<T, Row>,
  key: readonly Key[],
  changed: readonly Changed[],
  row: Members<Row, Key> & { readonly [Member in Changed]: Row[Member] },
  only: Change<Row> = {},
): Promise<number> {
  const now = Object.keys(only) as (keyof Row & string)[];
  const fixed = key.length + now.length;
  const parameters = changed.map((member, place) => parameterOf(into, member, row[member], fixed + place + 1));
  const set = parameters.map(({ column, sql }) => `${column} = ${sql}`).join(', ');
  return tx.execute(`UPDATE archivist.${into.table} r SET ${set} WHERE ${matching(into, [...key, ...now])}`, [
    ...key.map((member) => row[member]),
    ...now.map((member) => only[member]),
    ...parameters.map(({ value }) => value),
  ]);
}

/** Changes members of one row and resolves with the changed row; undefined if there is no such row. */
export async function changeRow<
  T extends Table,
  Row extends object,
  Key extends keyof Row & string,
  Changed extends keyof Row & string,
>(
  tx: Tx,
  into: Columns<T, Row>,
  key: readonly Key[],
  changed: readonly Changed[],
  row: Members<Row, Key> & Pick<Change<Row>, Changed>,
): Promise<Row | undefined> {
  const parameters = changed.map((member, place) =>
    parameterOf(into, member, row[member] ?? null, key.length + place + 1),
  );
  const set = parameters.map(({ column, sql }) => `${column} = coalesce(${sql}, r.${column})`).join(', ');
  const [found] = await tx.query<Row>(
    `UPDATE archivist.${into.table} r SET ${set} WHERE ${matching(into, key)} RETURNING ${selected(into, 'r')}`,
    [...key.map((member) => row[member]), ...parameters.map(({ value }) => value)],
  );
  return found;
}

/** What follows the rows of an insert, so that a row with the same key is replaced as far as these members go. */
export function replacing<T extends Table, Row>(
  { of }: Columns<T, Row>,
  key: readonly (keyof Row & string)[],
  changed: readonly (keyof Row & string)[],
): string {
  const set = changed.map((member) => `${of[member]} = excluded.${of[member]}`);
  return `ON CONFLICT (${key.map((member) => of[member]).join(', ')}) DO UPDATE SET ${set.join(', ')}`;
}

/** The condition that these members have the values of the first parameters. */
function matching<T extends Table, Row>({ of }: Columns<T, Row>, key: readonly (keyof Row & string)[]): string {
  return key.map((member, place) => `r.${of[member]} = $${place + 1}`).join(' AND ');
}

/** A member's column, and its value as a parameter: structures go as JSON text. */
function parameterOf<T extends Table, Row>(
  columns: Columns<T, Row>,
  member: keyof Row & string,
  value: unknown,
  number: number,
): { readonly column: string; readonly sql: string; readonly value: unknown } {
  const { column, type } = typedColumns(columns).find((each) => each.member === member)!;
  if (type !== 'jsonb') return { column, sql: `$${number}::${type}`, value };
  return { column, sql: `$${number}::text::jsonb`, value: value === null ? null : JSON.stringify(value) };
}
