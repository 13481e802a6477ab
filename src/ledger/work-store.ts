import type { Tx } from '../platform/postgres/database.js';
import type { LogRef } from './log.js';

/** The pending work of all logs at one moment. */
export interface PendingWork {
  /** Logs with work that the holder may do now, the longest waiting first. */
  readonly logs: readonly LogRef[];
  /** The first waiting entry of each log that is not halted. */
  readonly oldestEntryIds: readonly string[];
  readonly haltedLogs: number;
  /** When the database's server started: another time means that the server was restarted, or is another one. */
  readonly serverSince: string;
}

/**
 * Finds the pending work from the rows. Skips through the intake by log, so the cost is one index probe per log with
 * waiting entries, regardless of their number.
 * @param limit of `logs`
 */
export async function pendingWork(tx: Tx, holder: string, limit: number): Promise<PendingWork> {
  const [row] = await tx.query<{ logs: LogRef[] | null; oldest: string[] | null; halted: bigint; since: string }>(
    `WITH RECURSIVE waiting AS (
       (SELECT tenant_id, log_id, entry_id FROM archivist.intake ORDER BY tenant_id, log_id, entry_id LIMIT 1)
       UNION ALL
       SELECT next.* FROM waiting CROSS JOIN LATERAL (
         SELECT i.tenant_id, i.log_id, i.entry_id FROM archivist.intake i
          WHERE (i.tenant_id, i.log_id) > (waiting.tenant_id, waiting.log_id)
          ORDER BY i.tenant_id, i.log_id, i.entry_id LIMIT 1) next
     ),
     known AS MATERIALIZED (
       SELECT log.tenant_id, log.log_id, log.halted, waiting.entry_id,
              waiting.entry_id IS NOT NULL OR log.size > log.sealed_size OR log.seal_number > log.published_number AS owes,
              log.lease_until IS NULL OR log.lease_holder = $1 OR log.lease_until <= clock_timestamp() AS is_free
         FROM archivist.log LEFT JOIN waiting USING (tenant_id, log_id)
     ),
     ready AS (
       SELECT tenant_id, log_id, entry_id FROM known WHERE halted IS NULL AND owes AND is_free
        ORDER BY entry_id NULLS FIRST LIMIT $2
     )
     SELECT (SELECT jsonb_agg(jsonb_build_object('tenantId', tenant_id, 'logId', log_id) ORDER BY entry_id NULLS FIRST)
               FROM ready) AS logs,
            array_agg(entry_id::text) FILTER (WHERE entry_id IS NOT NULL AND halted IS NULL) AS oldest,
            count(*) FILTER (WHERE halted IS NOT NULL) AS halted, pg_postmaster_start_time()::text AS since
       FROM known`,
    [holder, limit],
  );
  return {
    logs: row?.logs ?? [],
    oldestEntryIds: row?.oldest ?? [],
    haltedLogs: Number(row?.halted ?? 0n),
    serverSince: row?.since ?? '',
  };
}
