import type { Tx } from '../platform/postgres/database.js';
import type { LogRef, LogState } from './log.js';

/** A signed state of a log. History is kept: each receipt comes from the first published seal that covers its entry. */
export interface SealRow {
  readonly sealNumber: bigint;
  readonly size: bigint;
  readonly leaves: bigint;
  readonly keyId: string;
  readonly sealedAtMs: bigint;
  /** MMR: the peaks bagged to one root, as in `confirm.root`. RFC 9162: the tree's root. */
  readonly root: Uint8Array;
  /** MMR: the seal file. RFC 9162: the signed root, a receipt without its proof. */
  readonly signed: Uint8Array;
}

interface StoredSeal {
  seal_number: bigint;
  size: bigint;
  leaves: bigint;
  key_id: string;
  sealed_at_ms: bigint;
  root: Uint8Array;
  signed: Uint8Array;
}

const COLUMNS = 'seal_number, size, leaves, key_id, sealed_at_ms, root, signed';

const sealRow = (row: StoredSeal): SealRow => ({
  sealNumber: row.seal_number,
  size: row.size,
  leaves: row.leaves,
  keyId: row.key_id,
  sealedAtMs: row.sealed_at_ms,
  root: row.root,
  signed: row.signed,
});

export async function insertSeal(tx: Tx, log: LogRef, seal: SealRow): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.seal (tenant_id, log_id, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      log.tenantId,
      log.logId,
      seal.sealNumber,
      seal.size,
      seal.leaves,
      seal.keyId,
      seal.sealedAtMs,
      seal.root,
      seal.signed,
    ],
  );
}

export async function findSeal(tx: Tx, log: LogRef, sealNumber: bigint): Promise<SealRow | undefined> {
  const [row] = await tx.query<StoredSeal>(
    `SELECT ${COLUMNS} FROM archivist.seal WHERE tenant_id = $1 AND log_id = $2 AND seal_number = $3`,
    [log.tenantId, log.logId, sealNumber],
  );
  return row && sealRow(row);
}

/** A log and one of its seals; undefined if the log has none with this number. */
export interface LogSeal {
  readonly log: LogState;
  readonly seal: SealRow | undefined;
}

/** The last published seal of each of these logs. */
export async function publishedSeals(tx: Tx, logs: readonly LogState[]): Promise<LogSeal[]> {
  const rows = await tx.query<StoredSeal & { log_id: string }>(
    `SELECT log_id, ${COLUMNS} FROM archivist.seal
      WHERE (tenant_id, log_id, seal_number) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]))`,
    [logs.map((log) => log.tenantId), logs.map((log) => log.logId), logs.map((log) => log.publishedNumber)],
  );
  const byLog = new Map(rows.map((row) => [row.log_id, sealRow(row)]));
  return logs.map((log) => ({ log, seal: byLog.get(log.logId) }));
}

/** The signed roots of these seals of an RFC 9162 log, by seal number. */
export async function signedRoots(
  tx: Tx,
  log: LogRef,
  sealNumbers: readonly bigint[],
): Promise<Map<bigint, Uint8Array>> {
  const rows = await tx.query<Pick<StoredSeal, 'seal_number' | 'signed'>>(
    `SELECT seal_number, signed FROM archivist.seal WHERE tenant_id = $1 AND log_id = $2 AND seal_number = ANY ($3::bigint[])`,
    [log.tenantId, log.logId, sealNumbers],
  );
  return new Map(rows.map((row) => [row.seal_number, row.signed]));
}

/** The newest seal over more than `moreLeaves` and at most `mostLeaves` leaves. */
export async function newestSealWithin(
  tx: Tx,
  log: LogRef,
  moreLeaves: bigint,
  mostLeaves: bigint,
): Promise<SealRow | undefined> {
  const [row] = await tx.query<StoredSeal>(
    `SELECT ${COLUMNS} FROM archivist.seal
      WHERE tenant_id = $1 AND log_id = $2 AND leaves > $3 AND leaves <= $4
      ORDER BY leaves DESC LIMIT 1`,
    [log.tenantId, log.logId, moreLeaves, mostLeaves],
  );
  return row && sealRow(row);
}

/** The signatures over these peaks made with one key, by node index. */
export async function peakReceipts(
  tx: Tx,
  log: LogRef,
  keyId: string,
  nodeIndices: readonly bigint[],
): Promise<Map<bigint, Uint8Array>> {
  const rows = await tx.query<{ node_index: bigint; receipt: Uint8Array }>(
    `SELECT node_index, receipt FROM archivist.peak_receipt
      WHERE tenant_id = $1 AND log_id = $2 AND key_id = $3 AND node_index = ANY ($4::bigint[])`,
    [log.tenantId, log.logId, keyId, nodeIndices],
  );
  return new Map(rows.map((row) => [row.node_index, row.receipt]));
}

/** Stores signatures over peaks that had no signature by this key. */
export async function insertPeakReceipts(
  tx: Tx,
  log: LogRef,
  keyId: string,
  receipts: ReadonlyMap<bigint, Uint8Array>,
): Promise<void> {
  if (receipts.size === 0) return;
  await tx.execute(
    `INSERT INTO archivist.peak_receipt (tenant_id, log_id, key_id, node_index, receipt)
     SELECT $1::uuid, $2::uuid, $3::text, new.* FROM unnest($4::bigint[], $5::bytea[]) AS new`,
    [log.tenantId, log.logId, keyId, [...receipts.keys()], [...receipts.values()]],
  );
}
