import type { Database, ScopeSettings } from './database.js';

/** The service's role: neither superuser nor exempt from row-level security (migration 1). */
export const SERVICE_ROLE = 'vcon_archivist_service';

/** Our statements name their schema; the queue's, which share the embedded session, do not. */
export const SEARCH_PATH = 'archivist, bullmq, public';
export const QUEUE_SEARCH_PATH = 'bullmq, public';

/** The part of a connection that is needed here. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/**
 * Isolation between tenancies relies on row-level security, which superusers and BYPASSRLS roles bypass.
 * @throws if the current role of this connection is one of these
 */
export async function requireRestrictedRole(connection: Queryable): Promise<void> {
  const { rows } = await connection.query(
    'SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user',
  );
  const role = rows[0];
  if (role && role['rolsuper'] === false && role['rolbypassrls'] === false) return;
  throw new Error(
    `the database role in force, ${String(role?.['rolname'])}, bypasses row-level security: the service does not start`,
  );
}

/** After this, a database ends the session of a transaction whose holder has stopped. */
const IDLE_LIMIT = 'idle_in_transaction_session_timeout';

/**
 * The settings of a scope that an engine can hold to. The embedded one has no session that could be ended: after the limit,
 * as when its process was frozen inside a transaction, it would never answer again. Nobody else waits for its one session.
 */
export function heldSettings(engine: Database['engine'], settings: ScopeSettings = {}): [string, string][] {
  return Object.entries(settings).filter(([name]) => engine === 'PostgreSQL' || name !== IDLE_LIMIT);
}

/**
 * Settings that change the meaning of our statements, the rows that they find, or the format of the answers, or that end a
 * migration or a copy of a large table before it is done.
 */
const STANDARD = {
  array_nulls: 'on',
  bytea_output: 'hex',
  datestyle: 'ISO, MDY',
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
  gin_fuzzy_search_limit: '0',
  [IDLE_LIMIT]: '0',
  // From PostgreSQL 14 on.
  idle_session_timeout: '0',
  intervalstyle: 'postgres',
  lock_timeout: '0',
  quote_all_identifiers: 'off',
  row_security: 'on',
  standard_conforming_strings: 'on',
  statement_timeout: '0',
  timezone: 'UTC',
  // From PostgreSQL 17 on.
  transaction_timeout: '0',
  transform_null_equals: 'off',
};

/** Changes settings that the server knows for the rest of the session. Parameters: their names, and their values. */
const SET = `SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS setting (name, value)
  WHERE current_setting(name, true) IS NOT NULL`;

const asParameters = (settings: Readonly<Record<string, string>>) => [Object.keys(settings), Object.values(settings)];

/** Gives a connection the settings that our statements expect. Those of its role, database or server no longer count. */
export async function enterStandardSession(connection: Queryable): Promise<void> {
  await connection.query(SET, asParameters(STANDARD));
}

/**
 * Prepares a new connection of the service: its role, our schemas, and the settings that our statements expect.
 * - Every statement has one time limit, also while it waits for a lock.
 * - Plans fit the current values and tables. Parallel workers would read a whole list instead of a page in its order.
 * - Statements are not compiled (`jit`), because compiling takes longer than most of them.
 * - Commits wait for the disk, even if the server's default does not.
 */
export async function enterServiceRole(
  connection: Queryable,
  searchPath: string,
  engine: Database['engine'] = 'PostgreSQL',
): Promise<void> {
  await connection.query(`SET ROLE ${SERVICE_ROLE}`);
  const settings = {
    ...STANDARD,
    search_path: searchPath,
    statement_timeout: '30s',
    ...(engine === 'PostgreSQL' ? { [IDLE_LIMIT]: '60s' } : {}),
    plan_cache_mode: 'force_custom_plan',
    max_parallel_workers_per_gather: '0',
    jit: 'off',
  };
  await connection.query(
    `${SET} UNION ALL
     SELECT set_config('synchronous_commit', CASE kept WHEN 'off' THEN 'on' ELSE kept END, false)
       FROM current_setting('synchronous_commit') AS kept`,
    asParameters(settings),
  );
}

/** Connections that are taken out and given back. */
interface Lender {
  connect(): Promise<Queryable & { release(): void }>;
}

/** How often sessions are compared: behind a busy pooler, two connections can happen to have different ones. */
const COMPARED = 5;

/**
 * A connection's role and settings are those of its session. @throws if two connections have the same session, or one has
 * several, as behind a pooler that gives each transaction another one
 */
export async function requireOwnSession(pool: Lender): Promise<void> {
  const first = await pool.connect();
  try {
    const second = await pool.connect();
    try {
      if (await haveOwnSessions(first, second)) return;
    } finally {
      second.release();
    }
  } finally {
    first.release();
  }
  throw new Error(
    'two connections to the database share a session: a pooler in transaction mode is unsupported, use its session mode',
  );
}

async function haveOwnSessions(one: Queryable, other: Queryable): Promise<boolean> {
  const [ofOne, ofOther] = [new Set<unknown>(), new Set<unknown>()];
  for (let compared = 0; compared < COMPARED; compared += 1) {
    // Twice, because a pooler can give its sessions out in turn.
    ofOne.add(await sessionOf(one)).add(await sessionOf(one));
    ofOther.add(await sessionOf(other));
  }
  return ofOne.size === 1 && ofOther.size === 1 && new Set([...ofOne, ...ofOther]).size === 2;
}

async function sessionOf(connection: Queryable): Promise<unknown> {
  return (await connection.query('SELECT pg_backend_pid() AS pid')).rows[0]?.['pid'];
}
