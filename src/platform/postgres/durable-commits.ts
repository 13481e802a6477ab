import type { Queryable } from './service-role.js';

/**
 * Checks that a commit on this connection is on disk when the server confirms it. @throws if the server's settings
 * prevent that
 */
export async function requireDurableCommits(connection: Queryable): Promise<void> {
  const { rows } = await connection.query(
    // The view pg_settings makes a row for every setting each time, and each capture asks.
    `SELECT name FROM unnest('{fsync,synchronous_commit}'::text[]) AS name WHERE current_setting(name) = 'off'`,
  );
  const off = rows.map((row) => row['name']).join(' and ');
  if (off !== '') throw new Error(`PostgreSQL has ${off} off: a power failure may lose commits; turn it on`);
}
