import type { Tx } from '../platform/postgres/database.js';
import type { LogRef } from './log.js';

/** A log that has pending work. */
interface WaitingLog extends LogRef {
  /** The first of its waiting entries; undefined if only a seal must be created or published. */
  readonly oldestEntryId: string | undefined;
}

/**
 * Logs with work that this holder may do now, found from their rows, the longest waiting first. Skips through the
 * intake by log, so the cost is one index probe per log with waiting entries, regardless of their number.
 */
export async function logsWithWork(tx: Tx, holder: string, limit: number): Promise<WaitingLog[]> {
  const rows = await tx.query<{ tenant_id: string; log_id: string; entry_id: string | null }>(
    `WITH RECURSIVE waiting AS (
       (SELECT tenant_id, log_id, entry_id FROM archivist.intake ORDER BY tenant_id, log_id, entry_id LIMIT 1)
       UNION ALL
       SELECT next.* FROM waiting CROSS JOIN LATERAL (
         SELECT i.tenant_id, i.log_id, i.entry_id FROM archivist.intake i
          WHERE (i.tenant_id, i.log_id) > (waiting.tenant_id, waiting.log_id)
          ORDER BY i.tenant_id, i.log_id, i.entry_id LIMIT 1) next
     )
     SELECT log.tenant_id, log.log_id, waiting.entry_id
       FROM archivist.log LEFT JOIN waiting USING (tenant_id, log_id)
      WHERE log.halted IS NULL
        AND (waiting.entry_id IS NOT NULL OR log.size > log.sealed_size OR log.seal_number > log.published_number)
        AND (log.lease_until IS NULL OR log.lease_holder = $1 OR log.lease_until <= clock_timestamp())
      ORDER BY waiting.entry_id NULLS FIRST
      LIMIT $2`,
    [holder, limit],
  );
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    logId: row.log_id,
    oldestEntryId: row.entry_id ?? undefined,
  }));
}

/** The pending work: the first waiting entry of each log that is not halted, and the number of halted logs. */
export async function owedWork(tx: Tx): Promise<{ oldestEntryIds: string[]; haltedLogs: number }> {
  const [row] = await tx.query<{ oldest: string[] | null; halted: bigint }>(
    `WITH RECURSIVE waiting AS (
       (SELECT tenant_id, log_id, entry_id FROM archivist.intake ORDER BY tenant_id, log_id, entry_id LIMIT 1)
       UNION ALL
       SELECT next.* FROM waiting CROSS JOIN LATERAL (
         SELECT i.tenant_id, i.log_id, i.entry_id FROM archivist.intake i
          WHERE (i.tenant_id, i.log_id) > (waiting.tenant_id, waiting.log_id)
          ORDER BY i.tenant_id, i.log_id, i.entry_id LIMIT 1) next
     )
     SELECT array_agg(waiting.entry_id::text) FILTER (WHERE waiting.entry_id IS NOT NULL AND log.halted IS NULL) AS oldest,
            count(*) FILTER (WHERE log.halted IS NOT NULL) AS halted
       FROM archivist.log LEFT JOIN waiting USING (tenant_id, log_id)`,
  );
  return { oldestEntryIds: row?.oldest ?? [], haltedLogs: Number(row?.halted ?? 0n) };
}
