import type { Tx } from '../../platform/postgres/database.js';

/** Events whose columns contradict each other or their tenancy. */
export async function contradictoryEvents(tx: Tx, limit: number): Promise<{ event_id: string; what: string }[]> {
  return tx.query<{ event_id: string; what: string }>(
    `SELECT event_id, CASE WHEN dated THEN 'from_address is not the wallet of its tenancy'
              ELSE 'accepted_at is another time than timestamp_accepted' END AS what
       FROM (SELECT e.event_id, e.timestamp_accepted =
                      to_char(e.accepted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS dated,
                    t.wallet_address IS NOT DISTINCT FROM e.from_address AS owned
               FROM archivist.asset_event e LEFT JOIN archivist.tenancy t ON t.tenant_id = e.origin_tenant_id) checked
      WHERE NOT dated OR NOT owned
      LIMIT $1`,
    [limit],
  );
}

/**
 * Events of SIMPLE_HASH assets that are not queued for their anchor as they were accepted, and queue rows without an
 * event.
 */
export async function misplacedSimpleHashEvents(tx: Tx, limit: number): Promise<string[]> {
  const rows = await tx.query<{ event_id: string }>(
    `SELECT coalesce(e.event_id, h.event_id) AS event_id
       FROM (SELECT e.tenant_id, e.event_id, e.accepted_at FROM archivist.asset_event e
               JOIN archivist.asset a ON a.tenant_id = e.tenant_id AND a.asset_id = e.asset_id
                AND a.proof_mechanism = 'SIMPLE_HASH') e
       FULL JOIN archivist.simple_hash_event h ON h.tenant_id = e.tenant_id AND h.event_id = e.event_id
      WHERE h.accepted_at IS DISTINCT FROM e.accepted_at
      LIMIT $1`,
    [limit],
  );
  return rows.map((row) => row.event_id);
}

/** The state of a tenancy's windows. */
export interface WindowRow {
  readonly tenant_id: string;
  readonly anchored_until: Date;
  readonly closed_until: Date;
  readonly anchors: bigint;
  /** The number of anchors that are stored, which the row may misstate. */
  readonly anchor_rows: bigint;
  /** Events without an anchor that were accepted before the end of the last anchored window. */
  readonly late: bigint;
}

export async function windowRows(tx: Tx): Promise<WindowRow[]> {
  return tx.query<WindowRow>(
    `SELECT t.tenant_id, w.anchored_until, w.closed_until, w.anchors,
            (SELECT count(*) FROM archivist.anchor a WHERE a.tenant_id = t.tenant_id) AS anchor_rows,
            (SELECT count(*) FROM archivist.simple_hash_event e WHERE e.tenant_id = t.tenant_id
               AND e.anchor_number IS NULL AND e.accepted_at < w.anchored_until) AS late
       FROM (SELECT tenant_id FROM archivist.anchor_window UNION SELECT tenant_id FROM archivist.anchor
             UNION SELECT tenant_id FROM archivist.simple_hash_event) t
       LEFT JOIN archivist.anchor_window w ON w.tenant_id = t.tenant_id`,
  );
}

/** Events that an anchor covers, in the order in which they are hashed, after the given one. */
export async function anchoredEventIds(
  tx: Tx,
  anchor: { readonly tenantId: string; readonly number: bigint },
  after: string | undefined,
  limit: number,
): Promise<string[]> {
  const rows = await tx.query<{ event_id: string }>(
    `SELECT event_id FROM archivist.simple_hash_event
      WHERE tenant_id = $1 AND anchor_number = $2 AND ($3::uuid IS NULL OR event_id > $3)
      ORDER BY event_id LIMIT $4`,
    [anchor.tenantId, anchor.number, after ?? null, limit],
  );
  return rows.map((row) => row.event_id);
}
