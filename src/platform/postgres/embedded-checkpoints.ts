import type { Pool } from 'pg';
import { atIntervals } from '../at-intervals.js';

/** How long the write-ahead log has become since the last checkpoint. */
const LONG = 'SELECT pg_current_wal_lsn() - redo_lsn > $1 AS long FROM pg_control_checkpoint()';

async function checkpointWhenLong(pool: Pool, afterBytes: number): Promise<void> {
  const { rows } = await pool.query<{ long: boolean }>(LONG, [afterBytes]);
  if (!rows[0]!.long) return;
  const client = await pool.connect();
  try {
    // The service's role may make no checkpoint. The role ends with the transaction.
    await client.query('BEGIN');
    await client.query('SET LOCAL ROLE NONE');
    await client.query('CHECKPOINT');
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

/**
 * Makes a checkpoint from time to time when the write-ahead log has become long. A server does so by itself; the embedded
 * engine makes one when it starts and when it is closed. In between, the log would grow on the disk without an end, and the
 * start after a crash would replay all of it. A full disk is no obstacle: a checkpoint makes room.
 * @returns ends it, once what runs is done
 */
export function keepCheckpoints(pool: Pool, everyMs: number, afterBytes: number): () => Promise<void> {
  // Without it, the log is only longer; the next time tries again.
  const keeping = atIntervals(everyMs, () => checkpointWhenLong(pool, afterBytes).catch(() => undefined));
  return () => keeping.close();
}
