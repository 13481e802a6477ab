import type { Queryable } from './service-role.js';

/**
 * Checks that a commit on this connection is on disk when the server confirms it. @throws if the server's settings
 * prevent that
 */
export async function requireDurableCommits(connection: Queryable): Promise<void> {
  const { rows } = await connection.query(
    // Not from the view pg_settings, which makes all settings for each look, and each capture looks.
    `SELECT name FROM unnest('{fsync,synchronous_commit}'::text[]) AS name WHERE current_setting(name) = 'off'`,
  );
  const off = rows.map((row) => row['name']).join(' and ');
  if (off !== '') throw new Error(`PostgreSQL has ${off} off: a power failure may lose commits; turn it on`);
}
