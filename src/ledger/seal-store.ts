import { selected, table } from '../platform/postgres/columns.js';
import type { SqlStatement, Tx } from '../platform/postgres/database.js';
import { insertsOf } from '../platform/postgres/insert-rows.js';
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

const SEAL = table('seal').columns<SealRow & LogRef>({
  tenantId: 'tenant_id',
  logId: 'log_id',
  sealNumber: 'seal_number',
  size: 'size',
  leaves: 'leaves',
  keyId: 'key_id',
  sealedAtMs: 'sealed_at_ms',
  root: 'root',
  signed: 'signed',
});
const OF_SEAL = ['sealNumber', 'size', 'leaves', 'keyId', 'sealedAtMs', 'root', 'signed'] as const;
const COLUMNS = selected(SEAL, 's', OF_SEAL);

/** The signature over a peak of a log. */
interface PeakReceipt extends LogRef {
  readonly keyId: string;
  readonly nodeIndex: bigint;
  readonly receipt: Uint8Array;
}

const PEAK_RECEIPT = table('peak_receipt').columns<PeakReceipt>({
  tenantId: 'tenant_id',
  logId: 'log_id',
  keyId: 'key_id',
  nodeIndex: 'node_index',
  receipt: 'receipt',
});

export function insertSeal({ tenantId, logId }: LogRef, seal: SealRow): SqlStatement[] {
  return [...insertsOf(SEAL, [{ ...seal, tenantId, logId }])];
}

export async function findSeal(tx: Tx, log: LogRef, sealNumber: bigint): Promise<SealRow | undefined> {
  const [row] = await tx.query<SealRow>(
    // Only the index of numbers has this order. By equality, the planner could just as well read all seals of the log by the
    // index of leaves, and did so on tables without statistics.
    `SELECT ${COLUMNS} FROM (
       SELECT * FROM archivist.seal
        WHERE tenant_id = $1 AND log_id = $2 AND seal_number >= $3 ORDER BY seal_number LIMIT 1) AS s
      WHERE s.seal_number = $3`,
    [log.tenantId, log.logId, sealNumber],
  );
  return row;
}

/** A log and one of its seals; undefined if the log has none with this number. */
export interface LogSeal {
  readonly log: LogState;
  readonly seal: SealRow | undefined;
}

/** The last published seal of each of these logs. */
export async function publishedSeals(tx: Tx, logs: readonly LogState[]): Promise<LogSeal[]> {
  const rows = await tx.query<SealRow & LogRef>(
    `SELECT ${selected(SEAL, 's')} FROM archivist.seal s
      WHERE (tenant_id, log_id, seal_number) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]))`,
    [logs.map((log) => log.tenantId), logs.map((log) => log.logId), logs.map((log) => log.publishedNumber)],
  );
  const byLog = new Map(rows.map((row) => [row.logId, row]));
  return logs.map((log) => ({ log, seal: byLog.get(log.logId) }));
}

/** The signed roots of these seals of an RFC 9162 log, by seal number. */
export async function signedRoots(
  tx: Tx,
  log: LogRef,
  sealNumbers: readonly bigint[],
): Promise<Map<bigint, Uint8Array>> {
  const rows = await tx.query<SealRow>(
    `SELECT ${selected(SEAL, 's', ['sealNumber', 'signed'])}
       FROM unnest($3::bigint[]) AS asked(number) CROSS JOIN LATERAL (
         SELECT * FROM archivist.seal
          WHERE tenant_id = $1 AND log_id = $2 AND seal_number >= asked.number ORDER BY seal_number LIMIT 1) AS s
      WHERE s.seal_number = asked.number`,
    [log.tenantId, log.logId, sealNumbers],
  );
  return new Map(rows.map((row) => [row.sealNumber, row.signed]));
}

/** The newest seal over more than `moreLeaves` and at most `mostLeaves` leaves. */
export async function newestSealWithin(
  tx: Tx,
  log: LogRef,
  moreLeaves: bigint,
  mostLeaves: bigint,
): Promise<SealRow | undefined> {
  const [row] = await tx.query<SealRow>(
    `SELECT ${COLUMNS} FROM archivist.seal s
      WHERE tenant_id = $1 AND log_id = $2 AND leaves > $3 AND leaves <= $4
      ORDER BY leaves DESC LIMIT 1`,
    [log.tenantId, log.logId, moreLeaves, mostLeaves],
  );
  return row;
}

/** The signatures over these peaks made with one key, by node index. */
export async function peakReceipts(
  tx: Tx,
  log: LogRef,
  keyId: string,
  nodeIndices: readonly bigint[],
): Promise<Map<bigint, Uint8Array>> {
  const rows = await tx.query<PeakReceipt>(
    // One look-up per peak. With a list of peaks, all that the key has signed was read from a table without statistics.
    `SELECT ${selected(PEAK_RECEIPT, 'p', ['nodeIndex', 'receipt'])}
       FROM unnest($4::bigint[]) AS asked(node) CROSS JOIN LATERAL (
         SELECT * FROM archivist.peak_receipt
          WHERE tenant_id = $1 AND log_id = $2 AND node_index = asked.node AND key_id = $3 LIMIT 1) AS p`,
    [log.tenantId, log.logId, keyId, nodeIndices],
  );
  return new Map(rows.map((row) => [row.nodeIndex, row.receipt]));
}

/** Stores signatures over peaks that had no signature by this key. */
export function insertPeakReceipts(
  { tenantId, logId }: LogRef,
  keyId: string,
  receipts: ReadonlyMap<bigint, Uint8Array>,
): SqlStatement[] {
  const rows = [...receipts].map(([nodeIndex, receipt]) => ({ tenantId, logId, keyId, nodeIndex, receipt }));
  return [...insertsOf(PEAK_RECEIPT, rows)];
}
