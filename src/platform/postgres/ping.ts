import type { Pool } from 'pg';
import { DatabaseReadOnly } from './transient-errors.js';

const BUSY_AFTER_MS = 1_000;

/**
 * Resolves when the database answers on a connection of this pool and accepts writes. A probe that has waited for a second
 * is queued behind other work. From then on the end of any of that work counts as an answer, even of a read: the
 * database is busy, not lost.
 * @throws {DatabaseReadOnly} and every error of a database that does not answer; that connection is not used again
 */
export async function ping(pool: Pool): Promise<void> {
  const busyFrom = performance.now() + BUSY_AFTER_MS;
  let ended: (error: Error | undefined) => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    ended = (error) => {
      if (!error && performance.now() >= busyFrom) resolve();
    };
  });
  pool.on('release', ended);
  try {
    await Promise.race([requireWritable(pool), answered]);
  } finally {
    pool.off('release', ended);
  }
}

async function requireWritable(pool: Pool): Promise<void> {
  const client = await pool.connect();
  let isWritable = false;
  try {
    const { rows } = await client.query(`SELECT current_setting('transaction_read_only') = 'off' AS writable`);
    isWritable = rows[0].writable;
  } finally {
    client.release(!isWritable);
  }
  if (!isWritable) throw new DatabaseReadOnly();
}
