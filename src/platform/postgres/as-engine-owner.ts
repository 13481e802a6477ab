import type { Pool, PoolClient } from 'pg';

/**
 * Works in one transaction as the owner of the embedded engine, for what the service's role may not do. Role and other
 * local settings end with the transaction.
 * @throws what the work throws; nothing of it is then done
 */
export async function asEngineOwner(pool: Pool, work: (client: PoolClient) => Promise<unknown>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('SET LOCAL ROLE NONE');
    await work(client);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}
