import type { Tx } from '../../platform/postgres/database.js';
import type { LogRef } from '../log.js';

/** The newest seal of an MMR log that is not yet an entry of the public statement log. */
interface UnregisteredSeal extends LogRef {
  readonly sealNumber: bigint;
  readonly leaves: bigint;
  readonly signed: Uint8Array;
}

interface SealedRow {
  tenant_id: string;
  log_id: string;
  seal_number: bigint;
  leaves: bigint;
  signed: Uint8Array;
}

export async function unregisteredSeals(tx: Tx, limit: number): Promise<UnregisteredSeal[]> {
  const rows = await tx.query<SealedRow>(
    `SELECT s.tenant_id, s.log_id, s.seal_number, s.leaves, s.signed
       FROM archivist.log g
       JOIN archivist.seal s ON s.tenant_id = g.tenant_id AND s.log_id = g.log_id AND s.seal_number = g.published_number
      WHERE g.structure = 'MMR_SHA256' AND NOT EXISTS (
              SELECT FROM archivist.registered_seal r
               WHERE r.tenant_id = g.tenant_id AND r.log_id = g.log_id AND r.seal_number = g.published_number)
      LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    logId: row.log_id,
    sealNumber: row.seal_number,
    leaves: row.leaves,
    signed: row.signed,
  }));
}

/** Marks seals as registered; returns those that no other process had marked. */
export async function insertRegisteredSeals(
  tx: Tx,
  seals: readonly { readonly seal: UnregisteredSeal; readonly entryId: string }[],
): Promise<Set<string>> {
  const rows = await tx.query<{ entry_id: string }>(
    `INSERT INTO archivist.registered_seal (tenant_id, log_id, seal_number, leaves, entry_id)
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::uuid[])
     ON CONFLICT DO NOTHING RETURNING entry_id`,
    [
      seals.map(({ seal }) => seal.tenantId),
      seals.map(({ seal }) => seal.logId),
      seals.map(({ seal }) => seal.sealNumber),
      seals.map(({ seal }) => seal.leaves),
      seals.map(({ entryId }) => entryId),
    ],
  );
  return new Set(rows.map((row) => row.entry_id));
}

/** The sizes that witnesses last cosigned, by name. */
export async function witnessSizes(tx: Tx, log: LogRef): Promise<Map<string, bigint>> {
  const rows = await tx.query<{ witness: string; size: bigint }>(
    `SELECT witness, size FROM archivist.witness_size WHERE tenant_id = $1 AND log_id = $2`,
    [log.tenantId, log.logId],
  );
  return new Map(rows.map((row) => [row.witness, row.size]));
}

export async function putWitnessSizes(tx: Tx, log: LogRef, witnesses: readonly string[], size: bigint): Promise<void> {
  if (witnesses.length === 0) return;
  await tx.execute(
    `INSERT INTO archivist.witness_size (tenant_id, log_id, witness, size)
     SELECT $1, $2, unnest($3::text[]), $4
     ON CONFLICT (tenant_id, log_id, witness) DO UPDATE SET size = greatest(witness_size.size, EXCLUDED.size)`,
    [log.tenantId, log.logId, witnesses, size],
  );
}

/** The newest checkpoint that a quorum has cosigned. */
export async function newestCosigned(tx: Tx, log: LogRef): Promise<{ size: bigint; note: string } | undefined> {
  const [row] = await tx.query<{ size: bigint; note: string }>(
    `SELECT size, note FROM archivist.cosigned_checkpoint
      WHERE tenant_id = $1 AND log_id = $2 ORDER BY size DESC LIMIT 1`,
    [log.tenantId, log.logId],
  );
  return row;
}

/** The last checkpoint that was published before witnesses were configured; undefined without witnesses. */
export async function plainCheckpoint(tx: Tx, log: LogRef): Promise<string | undefined> {
  const [row] = await tx.query<{ plain_checkpoint: string | null }>(
    'SELECT plain_checkpoint FROM archivist.log WHERE tenant_id = $1 AND log_id = $2',
    [log.tenantId, log.logId],
  );
  return row?.plain_checkpoint ?? undefined;
}

/** Stores or deletes it; if processes start together, the first one's stays. */
export async function putPlainCheckpoint(tx: Tx, log: LogRef, note: string | undefined): Promise<void> {
  await tx.execute(
    `UPDATE archivist.log SET plain_checkpoint = $3
      WHERE tenant_id = $1 AND log_id = $2 AND (plain_checkpoint IS NULL) = ($3::text IS NOT NULL)`,
    [log.tenantId, log.logId, note ?? null],
  );
}

export async function insertCosigned(tx: Tx, log: LogRef, size: bigint, note: string): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.cosigned_checkpoint (tenant_id, log_id, size, note) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING`,
    [log.tenantId, log.logId, size, note],
  );
}

/** Moves every MMR log to the newest of its seals that is below `size` entries of the public statement log. */
export async function advanceWitnessed(tx: Tx, log: LogRef, size: bigint): Promise<number> {
  return tx.execute(
    `UPDATE archivist.log g SET witnessed_leaves = covered.leaves
       FROM (SELECT r.tenant_id, r.log_id, max(r.leaves) AS leaves
               FROM archivist.registered_seal r
               JOIN archivist.log own ON own.tenant_id = r.tenant_id AND own.log_id = r.log_id
                AND r.leaves > own.witnessed_leaves
               JOIN archivist.leaf l ON l.tenant_id = $1 AND l.log_id = $2 AND l.entry_id = r.entry_id
              WHERE l.leaf_index < $3
              GROUP BY r.tenant_id, r.log_id) covered
      WHERE g.tenant_id = covered.tenant_id AND g.log_id = covered.log_id AND g.witnessed_leaves < covered.leaves`,
    [log.tenantId, log.logId, size],
  );
}

/** A registered seal below a cosigned checkpoint. */
interface WitnessedPlace {
  readonly sealNumber: bigint;
  /** Of the seal's entry in the public statement log. */
  readonly entryIndex: bigint;
  readonly checkpointSize: bigint;
  readonly checkpoint: string;
}

/** The first registered seal over a leaf that is below a cosigned checkpoint, and the first checkpoint above it. */
export async function firstWitnessedSeal(
  tx: Tx,
  publicLog: LogRef,
  log: LogRef,
  leafIndex: bigint,
): Promise<WitnessedPlace | undefined> {
  const [row] = await tx.query<{ seal_number: bigint; leaf_index: bigint; size: bigint; note: string }>(
    `SELECT r.seal_number, l.leaf_index, c.size, c.note
       FROM archivist.registered_seal r
       JOIN archivist.leaf l ON l.tenant_id = $1 AND l.log_id = $2 AND l.entry_id = r.entry_id
      CROSS JOIN LATERAL (
         SELECT size, note FROM archivist.cosigned_checkpoint
          WHERE tenant_id = $1 AND log_id = $2 AND size > l.leaf_index ORDER BY size LIMIT 1) c
      WHERE r.tenant_id = $3 AND r.log_id = $4 AND r.leaves > $5
      ORDER BY r.leaves LIMIT 1`,
    [publicLog.tenantId, publicLog.logId, log.tenantId, log.logId, leafIndex],
  );
  return (
    row && {
      sealNumber: row.seal_number,
      entryIndex: row.leaf_index,
      checkpointSize: row.size,
      checkpoint: row.note,
    }
  );
}
