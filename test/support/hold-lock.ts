import pg from 'pg';

/** A lock of the database that a test holds, so that what needs it waits for as long as the test looks. */
export interface HeldLock {
  /** How many sessions of this database wait for a lock now. */
  waiting(): Promise<number>;
  release(): Promise<void>;
}

/** Takes what the statement locks, in a transaction that lasts until the release. */
export async function holdLock(url: string, statement: string, values: readonly unknown[] = []): Promise<HeldLock> {
  const holder = new pg.Client({ connectionString: url });
  const watcher = new pg.Client({ connectionString: url });
  await Promise.all([holder.connect(), watcher.connect()]);
  await holder.query('BEGIN');
  await holder.query(statement, [...values]);
  return {
    async waiting() {
      const { rows } = await watcher.query<{ count: string }>(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return Number(rows[0]!.count);
    },
    async release() {
      await Promise.all([holder.end(), watcher.end()]);
    },
  };
}
