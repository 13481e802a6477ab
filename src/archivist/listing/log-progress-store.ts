import type { Tx } from '../../platform/postgres/database.js';

/** With more ids than this, a scan in list order fills a page soon. */
export const FEW_ENTRIES = 2000;

/** How far the log of a tenancy is, for conditions on the progress of its entries. */
export interface LogProgress {
  readonly tenantId: string;
  /** Committed leaves. */
  readonly leaves: bigint;
  /** Leaves under the published seal. */
  readonly published: bigint;
  /** Leaves that witnesses have cosigned. */
  readonly witnessed: bigint;
  /** Few entries wait to be committed. */
  readonly fewWait: boolean;
  /** Few events are of the mechanism SIMPLE_HASH. */
  readonly fewSimpleHash: boolean;
  /** Number of leaves that were committed before each of the times that were given. */
  readonly committedBefore: ReadonlyMap<number, bigint>;
}

/**
 * Reads how far the log of a tenancy is. A later statement may see a longer log, so an entry beyond these numbers is
 * shown with the status that it had.
 * @param times Unix milliseconds, for `committedBefore`
 */
export async function readLogProgress(tx: Tx, tenantId: string, times: readonly number[] = []): Promise<LogProgress> {
  const [row] = await tx.query<{
    leaves: bigint;
    published: bigint;
    witnessed: bigint;
    waiting: bigint;
    simple_hash: bigint;
  }>(
    `SELECT coalesce(max(g.leaves), 0) AS leaves, coalesce(max(s.leaves), 0) AS published,
            coalesce(max(g.witnessed_leaves), 0) AS witnessed,
            (SELECT count(*) FROM (SELECT FROM archivist.intake i
              WHERE i.tenant_id = $1 AND i.log_id = $1 LIMIT ${FEW_ENTRIES + 1}) AS counted) AS waiting,
            (SELECT count(*) FROM (SELECT FROM archivist.simple_hash_event h
              WHERE h.tenant_id = $1 LIMIT ${FEW_ENTRIES + 1}) AS counted) AS simple_hash
       FROM archivist.log g LEFT JOIN archivist.seal s
         ON s.tenant_id = g.tenant_id AND s.log_id = g.log_id AND s.seal_number = g.published_number
      WHERE g.tenant_id = $1 AND g.log_id = $1`,
    [tenantId],
  );
  const { leaves, published, witnessed, waiting, simple_hash: simpleHash } = row!;
  const committedBefore = new Map<number, bigint>();
  for (const time of times) committedBefore.set(time, await leavesBefore(tx, tenantId, leaves, time));
  return {
    tenantId,
    leaves,
    published,
    witnessed,
    fewWait: waiting <= FEW_ENTRIES,
    fewSimpleHash: simpleHash <= FEW_ENTRIES,
    committedBefore,
  };
}

/** Halves the log until it has the first leaf of this time: leaves are in the order of their idtimestamps. */
async function leavesBefore(tx: Tx, tenantId: string, leaves: bigint, time: number): Promise<bigint> {
  const [row] = await tx.query<{ found: bigint }>(
    `WITH RECURSIVE halved(low, high) AS (
       SELECT 0::bigint, $2::bigint
       UNION ALL
       SELECT CASE WHEN is_before THEN middle + 1 ELSE low END, CASE WHEN is_before THEN high ELSE middle END
         FROM (SELECT low, high, (low + high) / 2 AS middle,
                      (SELECT l.timestamp_committed::timestamptz < $3::timestamptz FROM archivist.leaf l
                        WHERE l.tenant_id = $1 AND l.log_id = $1 AND l.leaf_index = (low + high) / 2) AS is_before
                 FROM halved WHERE low < high) AS halves)
     SELECT low AS found FROM halved WHERE low >= high`,
    [tenantId, leaves, new Date(time)],
  );
  return row!.found;
}
