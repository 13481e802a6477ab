import type { Pool } from 'pg';
import { atIntervals } from '../at-intervals.js';
import { asEngineOwner } from './as-engine-owner.js';

/** How long the write-ahead log has become since the last checkpoint. */
const LONG = 'SELECT pg_current_wal_lsn() - redo_lsn > $1 AS long FROM pg_control_checkpoint()';

async function checkpointWhenLong(pool: Pool, afterBytes: number): Promise<void> {
  const { rows } = await pool.query<{ long: boolean }>(LONG, [afterBytes]);
  if (rows[0]!.long) await asEngineOwner(pool, (client) => client.query('CHECKPOINT'));
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
