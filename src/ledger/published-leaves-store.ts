import { leafCount } from '../core/mmr/leaf-count.js';
import type { Tx } from '../platform/postgres/database.js';
import type { LogRef } from './log.js';

/** How many leaves the published seal of each of these logs covers, by log id; a log that does not exist is left out. */
export async function publishedLeaves(tx: Tx, logs: readonly LogRef[]): Promise<Map<string, bigint>> {
  const rows = await tx.query<{ log_id: string; published_size: bigint }>(
    `SELECT log_id, published_size FROM archivist.log
      WHERE (tenant_id, log_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))`,
    [logs.map((log) => log.tenantId), logs.map((log) => log.logId)],
  );
  return new Map(rows.map((row) => [row.log_id, leafCount(row.published_size)]));
}
