import type { ClientBase } from 'pg';

/** What a server says of itself and of a database. */
export interface ServerFacts {
  /** Such as `UTF8`. */
  readonly encoding: string;
  /** Such as `15.13 (Debian 15.13-0+deb12u1)`. */
  readonly version: string;
  /** Such as `150013`. */
  readonly versionNumber: number;
}

/** Releases before it lack a function that our migrations use. */
const OLDEST = 130_000;

/**
 * Checks that a server can hold a new database of ours. One that was initialised without a locale creates databases in
 * SQL_ASCII, where a character is one byte.
 * @throws {Error} saying what to change
 */
export function requireUsableServer({ encoding, version, versionNumber }: ServerFacts): void {
  const guide = 'docs/operate/configuration.md#postgresql';
  if (versionNumber < OLDEST)
    throw new Error(`PostgreSQL ${version} is too old: use PostgreSQL 14 or newer (${guide})`);
  if (encoding !== 'UTF8')
    throw new Error(
      `the encoding ${encoding} cannot store or search all text. Create the database with ENCODING 'UTF8' TEMPLATE template0 (${guide})`,
    );
}

/**
 * Checks that a connection may write: a start could only fail later, with PostgreSQL's words for whatever it writes first.
 * @throws {Error} saying what to change
 */
export async function requireWritable(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean; writable: boolean }>(
    `SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'off' AS writable`,
  );
  const { standby, writable } = rows[0]!;
  if (standby)
    throw new Error('it only reads, because its server is a standby: name the primary, or promote this server');
  if (!writable)
    throw new Error(
      'it only reads, because default_transaction_read_only is on: set it to off for the server, the database or the role, whichever has it',
    );
}
