import type { Queryable } from './service-role.js';

/** Checks that a commit on this connection is on disk when it answers. @throws when the server's settings forbid it */
export async function requireDurableCommits(connection: Queryable): Promise<void> {
  const { rows } = await connection.query(
    `SELECT name FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit') AND setting = 'off'`,
  );
  const off = rows.map((row) => row['name']).join(' and ');
  if (off !== '') throw new Error(`PostgreSQL has ${off} off: a commit may be lost with the power`);
}
