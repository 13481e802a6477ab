import { SCHEMA } from './schema.js';

type Schema = typeof SCHEMA;
/** A table of the schema. */
export type Table = keyof Schema;

/** A value of each type of column, as `Tx` returns and accepts it. */
interface Values {
  readonly uuid: string;
  readonly text: string;
  readonly 'text[]': readonly string[];
  readonly smallint: number;
  readonly integer: number;
  readonly bigint: bigint;
  readonly 'double precision': number;
  readonly boolean: boolean;
  readonly timestamptz: Date;
  readonly bytea: Uint8Array;
  readonly jsonb: unknown;
}

/** The type of a column's value, for `bigint` as for `bigint?`. */
type ValueOf<Type> = Type extends keyof Values
  ? Values[Type]
  : Type extends `${infer Base extends keyof Values}?`
    ? Values[Base] | null
    : never;

/** The columns of a table that have values of this type. */
type ColumnFor<T extends Table, Value> = {
  [Column in keyof Schema[T] & string]: [Value] extends [ValueOf<Schema[T][Column]>] ? Column : never;
}[keyof Schema[T] & string];

/** For each member of a row, its column in the table. */
type ColumnsOf<T extends Table, Row> = {
  readonly [Member in keyof Row]-?: ColumnFor<T, Exclude<Row[Member], undefined>>;
};

/** How rows of a table are written and read. */
export interface Columns<T extends Table, Row> {
  readonly table: T;
  readonly of: ColumnsOf<T, Row>;
}

/**
 * Names the columns of a type of rows: `table('invite').columns<Invite>({ inviteId: 'invite_id', … })`. A column that the
 * schema does not have, or that has another type, does not compile.
 */
export function table<T extends Table>(name: T): { columns<Row>(of: ColumnsOf<T, Row>): Columns<T, Row> } {
  return { columns: (of) => ({ table: name, of }) };
}

/** The names of a table's columns, for a statement that is written out: `SET ${LOG.lease_epoch} = …`. */
export function names<T extends Table>(name: T): { readonly [Column in keyof Schema[T] & string]: Column } {
  const columns = Object.keys(SCHEMA[name]).map((column) => [column, column]);
  return Object.fromEntries(columns) as ReturnType<typeof names<T>>;
}

/**
 * The list of a SELECT or RETURNING that gives such rows.
 * @param alias of the table in the statement
 * @param only these members of a row
 */
export function selected<T extends Table, Row>(
  { of }: Columns<T, Row>,
  alias: string,
  only: readonly (keyof Row & string)[] = Object.keys(of) as (keyof Row & string)[],
): string {
  return only.map((member) => `${alias}.${of[member]} AS "${member}"`).join(', ');
}

/** The members of a row with their columns, and the type of each column in SQL. */
export function typedColumns<T extends Table, Row>({ table, of }: Columns<T, Row>): TypedColumn<Row>[] {
  const types: Readonly<Record<string, string>> = SCHEMA[table];
  return Object.entries<string>(of).map(([member, column]) => ({
    member: member as keyof Row,
    column,
    type: types[column]!.replace('?', ''),
  }));
}

export interface TypedColumn<Row> {
  readonly member: keyof Row;
  readonly column: string;
  readonly type: string;
}
