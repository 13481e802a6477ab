import type { Tx } from './database.js';

/** Unix milliseconds of the database's clock. */
export async function databaseTime(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  return row!.now.getTime();
}
