import type pg from 'pg';
import type { Tx } from './database.js';
import { enterStandardSession } from './service-role.js';

/** The part of a connection that is needed here. */
export type OwnerClient = Pick<pg.ClientBase, 'query'>;

/** A column that is copied, with the type that its text is cast to. */
interface CopiedColumn {
  readonly name: string;
  readonly type: string;
}

/** A table that is copied. */
export interface CopiedTable {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly CopiedColumn[];
}

/** A sequence and its position. */
export interface CopiedSequence {
  readonly schema: string;
  readonly name: string;
  readonly lastValue: string;
  readonly isCalled: boolean;
}

/** One value in PostgreSQL's text form. */
export type CopiedValue = string | null;

/** Our tables, and the queue's for a deployment without Redis. */
const SCHEMAS = ['archivist', 'bullmq'] as const;
/** The migrations write these themselves. */
const MIGRATION_TABLES = ['archivist.schema_migration', 'bullmq.migration'];
const RESTORING = 'restoring';
const MOVED = 'moved';
/** In the place of a move's id. */
const UNSEEN = 'unseen';

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function place({ schema, name }: { readonly schema: string; readonly name: string }): string {
  return `${quoted(schema)}.${quoted(name)}`;
}

/** Lets a transaction read or write the rows of all tenancies, as text that any server reads the same. */
export async function enterCopyScope(client: OwnerClient): Promise<void> {
  await enterStandardSession(client);
  await client.query("SELECT set_config('archivist.scope', 'system', true)");
}

/** Returns the tables to copy; a table comes after those that its foreign keys name. Generated columns are left out. */
export async function copiedTables(client: OwnerClient): Promise<CopiedTable[]> {
  const { rows } = await client.query<{ schema: string; name: string; columns: CopiedColumn[]; needs: string[] }>(
    `SELECT n.nspname AS schema, c.relname AS name,
       (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) ORDER BY a.attnum)
          FROM pg_attribute a
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
       ARRAY(SELECT fn.nspname || '.' || f.relname
               FROM pg_constraint k JOIN pg_class f ON f.oid = k.confrelid JOIN pg_namespace fn ON fn.oid = f.relnamespace
              WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.confrelid <> c.oid) AS needs
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ANY ($1) AND c.relkind = 'r' AND n.nspname || '.' || c.relname <> ALL ($2)
      ORDER BY n.nspname, c.relname`,
    [SCHEMAS, MIGRATION_TABLES],
  );
  const ordered: CopiedTable[] = [];
  const waiting = new Map(rows.map((row) => [`${row.schema}.${row.name}`, row]));
  for (const [key, { needs, ...table }] of drain(waiting)) {
    if (needs.some((each) => waiting.has(each))) continue;
    ordered.push(table);
    waiting.delete(key);
  }
  return ordered;
}

/** Yields the entries again and again until none is left. */
function* drain<Value>(waiting: ReadonlyMap<string, Value>): Generator<[string, Value]> {
  for (let before = -1; waiting.size > 0 && waiting.size !== before; ) {
    before = waiting.size;
    yield* [...waiting];
  }
  if (waiting.size > 0) throw new Error(`foreign keys form a cycle: ${[...waiting.keys()].join(', ')}`);
}

const ROWS_AT_ONCE = 200;

/** Yields the rows of a table in the running transaction, some at a time. */
export async function* tableRows(client: OwnerClient, table: CopiedTable): AsyncGenerator<CopiedValue[][]> {
  const columns = table.columns.map(({ name }) => `${quoted(name)}::text`).join(', ');
  await client.query(`DECLARE copied NO SCROLL CURSOR FOR SELECT ${columns} FROM ${place(table)}`);
  for (;;) {
    const { rows } = await client.query<CopiedValue[]>({ text: `FETCH ${ROWS_AT_ONCE} FROM copied`, rowMode: 'array' });
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_AT_ONCE) break;
  }
  await client.query('CLOSE copied');
}

/** Inserts rows whose values are in the order of the table's columns. */
export async function insertTableRows(
  client: OwnerClient,
  table: CopiedTable,
  rows: readonly (readonly CopiedValue[])[],
): Promise<void> {
  const names = table.columns.map(({ name }) => quoted(name)).join(', ');
  const casts = table.columns.map(({ type }, place) => `v${place}::${type}`).join(', ');
  const given = table.columns.map((_, place) => `$${place + 1}::text[]`).join(', ');
  const aliases = table.columns.map((_, place) => `v${place}`).join(', ');
  await client.query(
    `INSERT INTO ${place(table)} (${names}) OVERRIDING SYSTEM VALUE SELECT ${casts} FROM unnest(${given}) AS given(${aliases})`,
    table.columns.map((_, place) => rows.map((row) => row[place] ?? null)),
  );
}

export async function copiedSequences(client: OwnerClient): Promise<CopiedSequence[]> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    `SELECT schemaname AS schema, sequencename AS name FROM pg_sequences
      WHERE schemaname = ANY ($1) AND sequencename <> 'schema_migration_id_seq' ORDER BY 1, 2`,
    [SCHEMAS],
  );
  const found: CopiedSequence[] = [];
  for (const sequence of rows) {
    const at = await client.query<{ last: string; called: boolean }>(
      `SELECT last_value::text AS last, is_called AS called FROM ${place(sequence)}`,
    );
    found.push({ ...sequence, lastValue: at.rows[0]!.last, isCalled: at.rows[0]!.called });
  }
  return found;
}

export async function setSequence(client: OwnerClient, sequence: CopiedSequence): Promise<void> {
  await client.query(`CREATE SEQUENCE IF NOT EXISTS ${place(sequence)}`);
  await client.query('SELECT setval($1::regclass, $2, $3)', [place(sequence), sequence.lastValue, sequence.isCalled]);
}

/** Returns the names of the migrations that this database has, in order; none if it has no tables of ours. */
export async function appliedMigrations(client: OwnerClient): Promise<string[]> {
  const table = await client.query<{ there: string | null }>(
    `SELECT to_regclass('archivist.schema_migration')::text AS there`,
  );
  if (table.rows[0]!.there === null) return [];
  const { rows } = await client.query<{ name: string }>('SELECT name FROM archivist.schema_migration ORDER BY id');
  return rows.map(({ name }) => name);
}

/** What a database holds of this program. Both ends of a move carry its id. */
interface PlaceState {
  readonly state: 'empty' | 'restoring' | 'moved' | 'in use';
  readonly move?: string | undefined;
  /** Of a restore: before it began, the object store did not show what was published after the copy. */
  readonly unseen?: boolean;
}

/**
 * Returns whether a database holds nothing, a half restored or half moved copy, a deployment that was moved elsewhere, or
 * a deployment. Tables without rows are nothing.
 */
export async function placeState(client: OwnerClient): Promise<PlaceState> {
  const { rows } = await client.query<{ comment: string | null }>(
    `SELECT obj_description(oid, 'pg_namespace') AS comment FROM pg_namespace WHERE nspname = 'archivist'`,
  );
  const [mark, move] = (rows[0]?.comment ?? '').split(' ', 2);
  if (mark === RESTORING && move === UNSEEN) return { state: mark, unseen: true };
  if (mark === RESTORING || mark === MOVED) return { state: mark, move };
  for (const table of ['archivist.deployment', 'bullmq.job'])
    if (await hasRows(client, table)) return { state: 'in use' };
  return { state: 'empty' };
}

async function hasRows(client: OwnerClient, table: string): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [table]);
  if (!rows[0]!.there) return false;
  return (await client.query(`SELECT FROM ${table} LIMIT 1`)).rows.length > 0;
}

/**
 * Creates our schema with the mark of an unfinished restore or move; drops what an earlier attempt left. In one
 * transaction: after a crash without a mark, nothing would tell that this place is half filled.
 * @param what the id of a move, or what a restore must remember
 */
export async function beginRestoring(client: OwnerClient, what: Pick<PlaceState, 'move' | 'unseen'>): Promise<void> {
  await client.query('BEGIN');
  await client.query('DROP SCHEMA IF EXISTS archivist CASCADE');
  await client.query('DROP SCHEMA IF EXISTS bullmq CASCADE');
  await client.query('CREATE SCHEMA archivist');
  await mark(client, RESTORING, what.unseen ? UNSEEN : what.move);
  await client.query('COMMIT');
}

/** A comment takes no parameters: an id of another form than ours is refused. */
async function mark(client: OwnerClient, text: string, what?: string): Promise<void> {
  if (what !== undefined && what !== UNSEEN && !/^[0-9a-f-]+$/.test(what))
    throw new Error('the id of a move is a UUID');
  await client.query(`COMMENT ON SCHEMA archivist IS '${what === undefined ? text : `${text} ${what}`}'`);
}

/** Removes the mark: from now on a service may start. */
export async function endRestoring(tx: Tx): Promise<void> {
  // The role of the session owns the schema; the service's role does not.
  await tx.execute('SET LOCAL ROLE NONE');
  await tx.execute('COMMENT ON SCHEMA archivist IS NULL');
}

/** Marks a database as moved: its deployment continues in another one, and no service starts on this one any more. */
export async function markMoved(client: OwnerClient, move: string): Promise<void> {
  await mark(client, MOVED, move);
}

/** @throws {Error} if a restore or move into this database has not finished, or if its deployment was moved elsewhere */
export async function requireFinishedRestore(client: OwnerClient): Promise<void> {
  const { state, move } = await placeState(client);
  if (state === 'moved')
    throw new Error(
      'it was moved to a PostgreSQL server by "vcon-archivist move": set DATABASE_URL. A service that went on here would sign a second history',
    );
  if (state === 'restoring' && move !== undefined)
    throw new Error(
      'a move into it has not finished: unset DATABASE_URL and run "vcon-archivist move" again with this URL',
    );
  if (state === 'restoring')
    throw new Error(
      'a restore into it has not finished: run "vcon-archivist restore" again with the same folder and options',
    );
}
