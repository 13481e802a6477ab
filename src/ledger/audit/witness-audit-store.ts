import type { Tx } from '../../platform/postgres/database.js';
import type { LogRef } from '../log.js';

/** A registered seal with the rows that it refers to; null for a missing row. */
export interface RegisteredSealRow {
  readonly tenant_id: string;
  readonly log_id: string;
  readonly seal_number: bigint;
  readonly leaves: bigint;
  readonly entry_id: string;
  readonly seal_leaves: bigint | null;
  readonly signed: Uint8Array | null;
  readonly entry: Uint8Array | null;
  /** Its entry is in the public statement log, or waits for it. */
  readonly logged: boolean;
}

export async function registeredSeals(
  tx: Tx,
  log: LogRef,
  after: { readonly logId: string; readonly sealNumber: bigint },
  limit: number,
): Promise<RegisteredSealRow[]> {
  return tx.query<RegisteredSealRow>(
    `SELECT r.tenant_id, r.log_id, r.seal_number, r.leaves, r.entry_id, s.leaves AS seal_leaves, s.signed, t.entry,
            EXISTS (SELECT FROM archivist.leaf l WHERE l.tenant_id = $1 AND l.log_id = $2 AND l.entry_id = r.entry_id)
              OR EXISTS (SELECT FROM archivist.intake i WHERE i.tenant_id = $1 AND i.log_id = $2 AND i.entry_id = r.entry_id)
              AS logged
       FROM archivist.registered_seal r
       LEFT JOIN archivist.seal s
         ON s.tenant_id = r.tenant_id AND s.log_id = r.log_id AND s.seal_number = r.seal_number
       LEFT JOIN archivist.statement t ON t.tenant_id = $1 AND t.event_id = r.entry_id
      WHERE (r.log_id, r.seal_number) > ($3, $4) ORDER BY r.log_id, r.seal_number LIMIT $5`,
    [log.tenantId, log.logId, after.logId, after.sealNumber, limit],
  );
}

/** A stored checkpoint, with the root of the seal over the same number of entries. */
interface KeptCheckpoint {
  readonly tenant_id: string;
  readonly log_id: string;
  readonly size: bigint;
  readonly note: string;
  readonly root: Uint8Array | null;
}

/** The checkpoints that a quorum cosigned, for every log that they name. */
export async function keptCheckpoints(tx: Tx): Promise<KeptCheckpoint[]> {
  return tx.query<KeptCheckpoint>(
    `SELECT c.tenant_id, c.log_id, c.size, c.note, s.root FROM archivist.cosigned_checkpoint c
       LEFT JOIN archivist.seal s ON s.tenant_id = c.tenant_id AND s.log_id = c.log_id AND s.leaves = c.size
      ORDER BY c.tenant_id, c.log_id, c.size`,
  );
}

/** The root of a log's seal over exactly this many leaves. */
export async function rootOver(tx: Tx, log: LogRef, leaves: bigint): Promise<Uint8Array | undefined> {
  const [row] = await tx.query<{ root: Uint8Array }>(
    'SELECT root FROM archivist.seal WHERE tenant_id = $1 AND log_id = $2 AND leaves = $3',
    [log.tenantId, log.logId, leaves],
  );
  return row?.root;
}

/** The checkpoint that a log published before witnesses were configured; null if there is none. */
export async function plainCheckpoints(
  tx: Tx,
): Promise<{ tenant_id: string; log_id: string; plain_checkpoint: string }[]> {
  return tx.query<{ tenant_id: string; log_id: string; plain_checkpoint: string }>(
    'SELECT tenant_id, log_id, plain_checkpoint FROM archivist.log WHERE plain_checkpoint IS NOT NULL',
  );
}

/** Logs whose row marks more or fewer leaves as witnessed than the cosigned checkpoints cover. */
export async function wronglyWitnessed(
  tx: Tx,
  log: LogRef,
): Promise<{ name: string; said: bigint; covered: bigint }[]> {
  return tx.query<{ name: string; said: bigint; covered: bigint }>(
    `SELECT name, said, covered FROM
       (SELECT g.name, g.witnessed_leaves AS said, coalesce(
          (SELECT max(r.leaves) FROM archivist.registered_seal r
             JOIN archivist.leaf l ON l.tenant_id = $1 AND l.log_id = $2 AND l.entry_id = r.entry_id
            WHERE r.tenant_id = g.tenant_id AND r.log_id = g.log_id AND l.leaf_index <
              coalesce((SELECT max(c.size) FROM archivist.cosigned_checkpoint c
                         WHERE c.tenant_id = $1 AND c.log_id = $2), 0)), 0) AS covered
          FROM archivist.log g) counted
      WHERE said <> covered`,
    [log.tenantId, log.logId],
  );
}
