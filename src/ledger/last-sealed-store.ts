import type { Tx } from '../platform/postgres/database.js';

/** Unix milliseconds of the newest of all logs' last seals; undefined before the first. */
export async function lastSealedMs(tx: Tx): Promise<number | undefined> {
  const [row] = await tx.query<{ ms: bigint | null }>(
    `SELECT max(s.sealed_at_ms) AS ms
       FROM archivist.log g
       JOIN archivist.seal s
         ON s.tenant_id = g.tenant_id AND s.log_id = g.log_id AND s.seal_number = g.seal_number`,
  );
  return row?.ms == null ? undefined : Number(row.ms);
}
