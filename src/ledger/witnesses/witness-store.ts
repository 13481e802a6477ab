import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertReturning, insertRows } from '../../platform/postgres/insert-rows.js';
import { updateRows } from '../../platform/postgres/rows-by-key.js';
import type { LogRef } from '../log.js';
import { LOG } from '../log-store.js';

/** The newest seal of an MMR log that is not yet an entry of the public statement log. */
interface UnregisteredSeal extends LogRef {
  readonly sealNumber: bigint;
  readonly leaves: bigint;
  readonly signed: Uint8Array;
}

const SEAL = table('seal').columns<UnregisteredSeal>({
  tenantId: 'tenant_id',
  logId: 'log_id',
  sealNumber: 'seal_number',
  leaves: 'leaves',
  signed: 'signed',
});

/** A seal's entry in the public statement log. */
type RegisteredSeal = Omit<UnregisteredSeal, 'signed'> & { readonly entryId: string };

const REGISTERED = table('registered_seal').columns<RegisteredSeal>({
  tenantId: 'tenant_id',
  logId: 'log_id',
  sealNumber: 'seal_number',
  leaves: 'leaves',
  entryId: 'entry_id',
});

/** The size that a witness last cosigned. */
interface WitnessSize extends LogRef {
  readonly witness: string;
  readonly size: bigint;
}

const WITNESS_SIZE = table('witness_size').columns<WitnessSize>({
  tenantId: 'tenant_id',
  logId: 'log_id',
  witness: 'witness',
  size: 'size',
});

const { tenantId: TENANT, logId: LOG_ID, witness: WITNESS, size: SIZE } = WITNESS_SIZE.of;
const OR_LARGER = `ON CONFLICT (${TENANT}, ${LOG_ID}, ${WITNESS})
  DO UPDATE SET ${SIZE} = greatest(witness_size.${SIZE}, excluded.${SIZE})`;

/** A checkpoint that a quorum has cosigned. */
interface Cosigned extends LogRef {
  readonly size: bigint;
  readonly note: string;
}

const COSIGNED = table('cosigned_checkpoint').columns<Cosigned>({
  tenantId: 'tenant_id',
  logId: 'log_id',
  size: 'size',
  note: 'note',
});

export async function unregisteredSeals(tx: Tx, limit: number): Promise<UnregisteredSeal[]> {
  return tx.query<UnregisteredSeal>(
    `SELECT ${selected(SEAL, 's')}
       FROM archivist.log g
       JOIN archivist.seal s ON s.tenant_id = g.tenant_id AND s.log_id = g.log_id AND s.seal_number = g.published_number
      WHERE g.structure = 'MMR_SHA256' AND NOT EXISTS (
              SELECT FROM archivist.registered_seal r
               WHERE r.tenant_id = g.tenant_id AND r.log_id = g.log_id AND r.seal_number = g.published_number)
      LIMIT $1`,
    [limit],
  );
}

/** Marks seals as registered; returns those that no other process had marked. */
export async function insertRegisteredSeals(
  tx: Tx,
  seals: readonly { readonly seal: UnregisteredSeal; readonly entryId: string }[],
): Promise<Set<string>> {
  const rows = seals.map(({ seal, entryId }) => ({ ...seal, entryId }));
  return new Set(await insertReturning(tx, REGISTERED, rows, 'ON CONFLICT DO NOTHING', 'entryId'));
}

/** The sizes that witnesses last cosigned, by name. */
export async function witnessSizes(tx: Tx, log: LogRef): Promise<Map<string, bigint>> {
  const rows = await tx.query<WitnessSize>(
    `SELECT ${selected(WITNESS_SIZE, 'w', ['witness', 'size'])} FROM archivist.witness_size w
      WHERE w.tenant_id = $1 AND w.log_id = $2`,
    [log.tenantId, log.logId],
  );
  return new Map(rows.map((row) => [row.witness, row.size]));
}

export async function putWitnessSizes(
  tx: Tx,
  { tenantId, logId }: LogRef,
  witnesses: readonly string[],
  size: bigint,
): Promise<void> {
  await insertRows(
    tx,
    WITNESS_SIZE,
    witnesses.map((witness) => ({ tenantId, logId, witness, size })),
    OR_LARGER,
  );
}

/** The newest checkpoint that a quorum has cosigned. */
export async function newestCosigned(tx: Tx, log: LogRef): Promise<Pick<Cosigned, 'size' | 'note'> | undefined> {
  const [row] = await tx.query<Pick<Cosigned, 'size' | 'note'>>(
    `SELECT ${selected(COSIGNED, 'c', ['size', 'note'])} FROM archivist.cosigned_checkpoint c
      WHERE c.tenant_id = $1 AND c.log_id = $2 ORDER BY c.size DESC LIMIT 1`,
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
    `UPDATE archivist.log SET ${LOG.plain_checkpoint} = $3
      WHERE tenant_id = $1 AND log_id = $2 AND (plain_checkpoint IS NULL) = ($3::text IS NOT NULL)`,
    [log.tenantId, log.logId, note ?? null],
  );
}

export async function insertCosigned(tx: Tx, { tenantId, logId }: LogRef, size: bigint, note: string): Promise<void> {
  await insertRows(tx, COSIGNED, [{ tenantId, logId, size, note }], 'ON CONFLICT DO NOTHING');
}

/** Replaces a cosigned checkpoint by one with more cosignatures, unless another process has replaced it. */
export async function replaceCosigned(
  tx: Tx,
  { tenantId, logId }: LogRef,
  size: bigint,
  { before, after }: { readonly before: string; readonly after: string },
): Promise<void> {
  const row = { tenantId, logId, size, note: after };
  await updateRows(tx, COSIGNED, ['tenantId', 'logId', 'size'], ['note'], row, { note: before });
}

/** Moves every MMR log to the newest of its seals that is below `size` entries of the public statement log. */
export async function advanceWitnessed(tx: Tx, log: LogRef, size: bigint): Promise<number> {
  return tx.execute(
    `UPDATE archivist.log g SET ${LOG.witnessed_leaves} = covered.leaves
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
