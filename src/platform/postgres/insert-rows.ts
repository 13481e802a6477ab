import { bytesArray } from './bytes-array.js';
import { type Columns, type Table, type TypedColumn, typedColumns } from './columns.js';
import type { SqlStatement, Tx } from './database.js';
import { jsonRows } from './json-rows.js';

/**
 * Inserts rows and returns how many were inserted. Rows of more than 96 KiB go in several statements,
 * each sent after the one before, so that other requests are served in between.
 * @param rest what follows the rows in the statement: ORDER BY, ON CONFLICT
 */
export async function insertRows<T extends Table, Row extends object>(
  tx: Tx,
  into: Columns<T, Row>,
  rows: readonly Row[],
  rest = '',
): Promise<number> {
  let inserted = 0;
  for (const { text, values } of insertsOf(into, rows, rest)) inserted += await tx.execute(text, values);
  return inserted;
}

/** The statements that insert rows as above, each made when it is needed. */
export function* insertsOf<T extends Table, Row extends object>(
  into: Columns<T, Row>,
  rows: readonly Row[],
  rest = '',
): Generator<SqlStatement> {
  const { text, valuesOf } = statementOf(into, rest);
  for (const { values, more } of valuesOf(rows)) yield { text, values, isLong: more };
}

const UNIQUE_VIOLATION = '23505';

/**
 * The statements that insert rows, none of which exists yet.
 * @param existing makes what is thrown if one does
 */
export function* insertsOfNew<T extends Table, Row extends object>(
  into: Columns<T, Row>,
  rows: readonly Row[],
  existing: () => Error,
  rest = '',
): Generator<SqlStatement> {
  const refusal = (error: unknown): unknown =>
    (error as { code?: unknown }).code === UNIQUE_VIOLATION ? existing() : error;
  for (const insert of insertsOf(into, rows, rest)) yield { ...insert, refusal };
}

/** Inserts rows as `insertRows`, and returns this member of those that were inserted. */
export async function insertReturning<T extends Table, Row extends object, Member extends keyof Row & string>(
  tx: Tx,
  into: Columns<T, Row>,
  rows: readonly Row[],
  rest: string,
  member: Member,
): Promise<Row[Member][]> {
  const returned: Row[Member][] = [];
  const { text, valuesOf } = statementOf(into, `${rest} RETURNING ${into.of[member]} AS "${member}"`);
  for (const { values } of valuesOf(rows))
    for (const row of await tx.query<Row>(text, values)) returned.push(row[member]);
  return returned;
}

/** How a statement begins that inserts what a query gives, in the order of the row's members. */
export function insertInto<T extends Table, Row>({ table, of }: Columns<T, Row>): string {
  return `INSERT INTO archivist.${table} (${Object.values<string>(of).join(', ')})`;
}

interface Statement<Row> {
  readonly text: string;
  valuesOf(rows: readonly Row[]): Iterable<{ readonly values: readonly unknown[]; readonly more: boolean }>;
}

/** Making a text takes as long as sending it. */
const statements = new WeakMap<object, Map<string, Statement<never>>>();

function statementOf<T extends Table, Row extends object>(into: Columns<T, Row>, rest: string): Statement<Row> {
  const made = statements.get(into) ?? new Map<string, Statement<never>>();
  statements.set(into, made);
  const statement = (made.get(rest) as Statement<Row> | undefined) ?? makeStatement(into, rest);
  made.set(rest, statement);
  return statement;
}

/**
 * Values go in one array for each column, which the database reads in half the time of a JSON document. Only structures
 * go in a document: in measurements, it cost the sender a third of their arrays.
 */
function makeStatement<T extends Table, Row extends object>(into: Columns<T, Row>, rest: string): Statement<Row> {
  const all = typedColumns(into);
  const structures = all.filter(({ type }) => type === 'jsonb' || type === 'text[]');
  const others = all.filter((each) => !structures.includes(each));
  const hasStructures = structures.length > 0;
  const sources = others.map(({ type }, place) => `unnest($${place + 1}::${type}[])`);
  const list = structures.map(({ column, type }) => `${column} ${type}`).join(', ');
  if (hasStructures) sources.push(`jsonb_to_recordset($${others.length + 1}::jsonb) AS (${list})`);
  const names = [...others, ...structures].map(({ column }) => column).join(', ');
  const source = `ROWS FROM (${sources.join(', ')}) AS n(${names})`;
  const jsonOf = (row: Row) => {
    const document: Record<string, unknown> = {};
    for (const { column, member } of structures) document[column] = row[member];
    return hasStructures ? JSON.stringify(document) : '';
  };
  const longs = others.filter(({ type }) => type === 'text' || type === 'bytea').map(({ member }) => member);
  const beside = (row: Row) => lengthOf(row, longs);
  const arraysOf = (rows: readonly Row[]) => others.map((each) => arrayOf(each, rows));
  return {
    text: `INSERT INTO archivist.${into.table} (${names}) SELECT * FROM ${source} ${rest}`,
    *valuesOf(rows) {
      for (const { json, rows: some, more } of jsonRows(rows, jsonOf, beside))
        yield { values: hasStructures ? [...arraysOf(some), json] : arraysOf(some), more };
    },
  };
}

/** Of texts in characters, of bytes in bytes. */
function lengthOf<Row>(row: Row, members: readonly (keyof Row)[]): number {
  let length = 0;
  for (const member of members) length += (row[member] as string | Uint8Array | null | undefined)?.length ?? 0;
  return length;
}

/** A column's values as the database reads them; the driver would quote and escape every id and number. */
function arrayOf<Row>({ member, type }: TypedColumn<Row>, rows: readonly Row[]): unknown {
  if (type === 'bytea') return bytesArray(rows.map((row) => row[member] as Uint8Array | null | undefined));
  const elementOf = ELEMENTS[type] ?? String;
  let text = '{';
  for (const row of rows) {
    const value = row[member];
    if (text.length > 1) text += ',';
    text += value === null || value === undefined ? 'NULL' : elementOf(value);
  }
  return `${text}}`;
}

const SPECIAL = /["\\]/g;

/** How a value is written in an array, where that is not its text. */
const ELEMENTS: Readonly<Record<string, (value: unknown) => string>> = {
  text: (value) => `"${String(value).replace(SPECIAL, '\\$&')}"`,
  timestamptz: (value) => (value as Date).toISOString(),
};
