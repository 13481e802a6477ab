import type { Tx } from '../../platform/postgres/database.js';

/** A registration of the payload-hash profile with its entry; null columns mean that it does not exist. */
export interface PayloadHashEvidence {
  readonly tenant_id: string;
  readonly entry_id: string;
  readonly statement_hash: Uint8Array;
  readonly submitted: Uint8Array;
  readonly entry: Uint8Array | null;
  /** True if its entry is in the profile's log or queued for it. */
  readonly logged: boolean;
}

export async function payloadHashEvidence(tx: Tx, after: string, limit: number): Promise<PayloadHashEvidence[]> {
  return tx.query<PayloadHashEvidence>(
    `SELECT r.tenant_id, r.entry_id, r.statement_hash, r.submitted, s.entry,
            EXISTS (SELECT FROM archivist.leaf l
                     WHERE l.tenant_id = p.tenant_id AND l.log_id = p.log_id AND l.entry_id = r.entry_id)
              OR EXISTS (SELECT FROM archivist.intake i
                          WHERE i.tenant_id = p.tenant_id AND i.log_id = p.log_id AND i.entry_id = r.entry_id) AS logged
       FROM archivist.payload_hash_registration r
       LEFT JOIN archivist.payload_hash_log p ON p.tenant_id = r.tenant_id
       LEFT JOIN archivist.statement s ON s.tenant_id = r.tenant_id AND s.event_id = r.entry_id
      WHERE r.entry_id > $1 ORDER BY r.entry_id LIMIT $2`,
    [after, limit],
  );
}

/** Entries of the profile's log without a registration, except statements about an open fork of it. */
export async function unregisteredPayloads(tx: Tx, limit: number): Promise<string[]> {
  const rows = await tx.query<{ entry_id: string }>(
    `SELECT l.entry_id FROM archivist.payload_hash_log p
       JOIN archivist.leaf l ON l.tenant_id = p.tenant_id AND l.log_id = p.log_id
      WHERE NOT EXISTS (SELECT FROM archivist.payload_hash_registration r
                         WHERE r.tenant_id = l.tenant_id AND r.entry_id = l.entry_id)
        AND NOT EXISTS (SELECT FROM archivist.log g, jsonb_array_elements(g.forks) fork
                         WHERE g.tenant_id = l.tenant_id AND g.log_id = l.log_id
                           AND fork->>'entry_id' = l.entry_id::text)
      LIMIT $1`,
    [limit],
  );
  return rows.map((row) => row.entry_id);
}
