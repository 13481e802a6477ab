import type { Tx } from '../../platform/postgres/database.js';
import type { LogRef } from '../log.js';

/** Every log of the deployment. */
export async function allLogs(tx: Tx): Promise<LogRef[]> {
  const rows = await tx.query<{ tenant_id: string; log_id: string }>(
    'SELECT tenant_id, log_id FROM archivist.log ORDER BY tenant_id, log_id',
  );
  return rows.map((row) => ({ tenantId: row.tenant_id, logId: row.log_id }));
}

/**
 * What a log's row says, and what is stored for the log, including rows that nothing refers to; all read at one moment.
 */
interface StoredCounts {
  readonly said: { readonly leaves: bigint; readonly nodes: bigint; readonly seals: bigint };
  readonly stored: { readonly leaves: bigint; readonly nodes: bigint; readonly seals: bigint };
}

export async function storedCounts(tx: Tx, log: LogRef): Promise<StoredCounts> {
  const [row] = await tx.query<
    Record<'leaves' | 'size' | 'seal_number' | 'node_bytes' | 'leaf_rows' | 'seal_rows', bigint>
  >(
    `SELECT g.leaves, g.size, g.seal_number,
       (SELECT coalesce(sum(length(n.nodes)), 0)::bigint FROM archivist.node_page n
         WHERE n.tenant_id = g.tenant_id AND n.log_id = g.log_id) AS node_bytes,
       (SELECT count(*) FROM archivist.leaf l WHERE l.tenant_id = g.tenant_id AND l.log_id = g.log_id) AS leaf_rows,
       (SELECT count(*) FROM archivist.seal s WHERE s.tenant_id = g.tenant_id AND s.log_id = g.log_id) AS seal_rows
       FROM archivist.log g WHERE g.tenant_id = $1 AND g.log_id = $2`,
    [log.tenantId, log.logId],
  );
  const found = row!;
  return {
    said: { leaves: found.leaves, nodes: found.size, seals: found.seal_number },
    stored: { leaves: found.leaf_rows, nodes: found.node_bytes / 32n, seals: found.seal_rows },
  };
}

/** Stored signatures over peaks, by any key, in the order of their nodes and keys: after a rotation, a node has several. */
export async function storedPeakReceipts(
  tx: Tx,
  log: LogRef,
  after: { readonly nodeIndex: bigint; readonly keyId: string },
  limit: number,
): Promise<{ nodeIndex: bigint; keyId: string; receipt: Uint8Array }[]> {
  const rows = await tx.query<{ node_index: bigint; key_id: string; receipt: Uint8Array }>(
    `SELECT node_index, key_id, receipt FROM archivist.peak_receipt
      WHERE tenant_id = $1 AND log_id = $2 AND (node_index, key_id) > ($3, $4) ORDER BY node_index, key_id LIMIT $5`,
    [log.tenantId, log.logId, after.nodeIndex, after.keyId, limit],
  );
  return rows.map((row) => ({ nodeIndex: row.node_index, keyId: row.key_id, receipt: row.receipt }));
}
