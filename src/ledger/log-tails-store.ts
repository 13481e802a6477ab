import { uint64FromBytes, uint64ToBytes } from '../core/bytes.js';
import type { Tx } from '../platform/postgres/database.js';

/** How far an MMR log is published, for clients that watch many logs. */
export interface LogTail {
  readonly tenantId: string;
  readonly logId: string;
  readonly massifHeight: number;
  /** Leaves under the newest published seal. */
  readonly leaves: bigint;
  /** Of the last of these leaves. */
  readonly lastIdtimestamp: bigint;
}

interface TailRow {
  tenant_id: string;
  log_id: string;
  massif_height: number;
  leaves: bigint;
  idtimestamp: Uint8Array;
}

/**
 * Published MMR logs whose newest published leaf is not older than `since`, ordered by id, after `afterLog`. An MMR log
 * has the id of its tenancy.
 */
export async function logTails(
  tx: Tx,
  { since, afterLog, limit }: { since: bigint; afterLog: string; limit: number },
): Promise<LogTail[]> {
  const rows = await tx.query<TailRow>(
    `SELECT log.tenant_id, log.log_id, log.massif_height, seal.leaves, leaf.idtimestamp
       FROM archivist.log
       JOIN archivist.seal ON seal.tenant_id = log.tenant_id AND seal.log_id = log.log_id
        AND seal.seal_number = log.published_number
       JOIN archivist.leaf ON leaf.tenant_id = log.tenant_id AND leaf.log_id = log.log_id
        AND leaf.leaf_index = seal.leaves - 1
      WHERE log.structure = 'MMR_SHA256' AND log.tenant_id > $1 AND leaf.idtimestamp >= $2
      ORDER BY log.tenant_id
      LIMIT $3`,
    [afterLog, uint64ToBytes(since), limit],
  );
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    logId: row.log_id,
    massifHeight: Number(row.massif_height),
    leaves: row.leaves,
    lastIdtimestamp: uint64FromBytes(row.idtimestamp),
  }));
}
