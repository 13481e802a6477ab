import type { Pool } from 'pg';
import { atIntervals } from '../at-intervals.js';
import { asEngineOwner } from './as-engine-owner.js';

/** Rows looked at are 300 times this. A usual analysis looks at ten times as many, and would hold the event loop for longer. */
const DETAIL = '10';

/** Tables of more than a few pages that are twice as long as when they were analysed, or never were. */
const GROWN = `
  SELECT format('%I.%I', n.nspname, c.relname) AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = 'archivist' AND c.relkind = 'r'
     AND pg_relation_size(c.oid) / current_setting('block_size')::int > greatest(2 * c.relpages, 8)`;

/**
 * Analyses the tables that have grown, one transaction each. A server does so by itself; the embedded engine does not, and
 * without statistics the planner takes an index that fits and one that half fits for equally good.
 */
async function analyseGrown(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(GROWN);
  for (const { name } of rows)
    await asEngineOwner(pool, async (client) => {
      await client.query(`SELECT set_config('default_statistics_target', $1, true)`, [DETAIL]);
      await client.query(`ANALYZE ${name}`);
    });
}

/**
 * Analyses from time to time what has grown.
 * @param mayWrite whether the disk has room for it
 * @returns ends it, once what runs is done
 */
export function keepStatistics(pool: Pool, everyMs: number, mayWrite: () => boolean): () => Promise<void> {
  const keeping = atIntervals(everyMs, async () => {
    // Without it, queries are only slower; the next time tries again.
    if (mayWrite()) await analyseGrown(pool).catch(() => undefined);
  });
  return () => keeping.close();
}
