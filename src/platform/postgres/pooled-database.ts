import type pg from 'pg';
import type { Database } from './database.js';
import { transaction } from './transactions.js';

/** A database of which the queue may use the connections too. */
export interface PooledDatabase extends Database {
  /** Connections for the queue, under the service's role. */
  readonly queuePool: pg.Pool;
}

/** @param closeEngine ends what is below the pools */
export function pooledDatabase(
  engine: Database['engine'],
  pool: pg.Pool,
  queuePool: pg.Pool,
  closeEngine: () => Promise<void>,
): PooledDatabase {
  return {
    engine,
    queuePool,
    inTransaction: (scope, work) => transaction(pool, scope, work),
    async ping() {
      await pool.query('SELECT 1');
    },
    close: closeEngine,
  };
}
