import { uint64FromBytes, uint64ToBytes } from '../core/bytes.js';
import { generationName } from '../core/fork/log-generation.js';
import { names, selected, table } from '../platform/postgres/columns.js';
import type { SqlStatement, SystemScope, Tx } from '../platform/postgres/database.js';
import { insertRows } from '../platform/postgres/insert-rows.js';
import { KEPT_PLANS } from '../platform/postgres/kept-plans.js';
import { affectsExactly } from './exact-rows-store.js';
import { currentGeneration, type LogRef, type LogState, type LogStructure } from './log.js';
import { LeaseLost } from './log-inconsistent.js';
import { readStoredForks } from './stored-forks.js';

/** A working sequencer renews its lease with every step; after this long without a renewal, another one takes over. */
const LEASE_SECONDS = 10;

/** A row of the table of logs. */
export interface LogRow extends Omit<LogState, 'forks' | 'lastIdtimestamp'> {
  readonly lastIdtimestamp: Uint8Array;
  readonly forks: unknown;
}

/** The columns of a `LogRow`. */
export const COLUMNS = selected(
  table('log').columns<LogRow>({
    tenantId: 'tenant_id',
    logId: 'log_id',
    structure: 'structure',
    name: 'name',
    massifHeight: 'massif_height',
    size: 'size',
    leaves: 'leaves',
    lastIdtimestamp: 'last_idtimestamp',
    leaseEpoch: 'lease_epoch',
    sealNumber: 'seal_number',
    sealedSize: 'sealed_size',
    publishedNumber: 'published_number',
    publishedSize: 'published_size',
    halted: 'halted',
    forks: 'forks',
  }),
  'log',
);

/** @throws {LogInconsistent} if the list of forks in the row is damaged */
export function logState(row: LogRow): LogState {
  const forks = readStoredForks(row.logId, row.forks);
  return {
    ...row,
    name: generationName({ base: row.name, generation: currentGeneration({ forks }) }),
    forks,
    lastIdtimestamp: uint64FromBytes(row.lastIdtimestamp),
  };
}

interface NewLog extends LogRef {
  readonly structure: LogStructure;
  readonly name: string;
  readonly massifHeight: number;
  readonly createdAt: Date;
}

/** Columns that a statement sets. */
export const LOG = names('log');

const NEW_LOG = table('log').columns<NewLog>({
  tenantId: 'tenant_id',
  logId: 'log_id',
  structure: 'structure',
  name: 'name',
  massifHeight: 'massif_height',
  createdAt: 'created_at',
});

/** Creates an empty log; an existing log stays unchanged. */
export async function createLog(tx: Tx, log: NewLog): Promise<void> {
  await insertRows(tx, NEW_LOG, [log], 'ON CONFLICT DO NOTHING');
}

export async function findLog(tx: Tx, log: LogRef): Promise<LogState | undefined> {
  const [row] = await tx.query<LogRow>(`SELECT ${COLUMNS} FROM archivist.log WHERE tenant_id = $1 AND log_id = $2`, [
    log.tenantId,
    log.logId,
  ]);
  return row && logState(row);
}

/** The log as the holder of this lease left it. @throws {LeaseLost} if another sequencer has taken it since */
export async function leasedLog(tx: Tx, lease: LogState): Promise<LogState> {
  const log = await findLog(tx, lease);
  if (log?.leaseEpoch !== lease.leaseEpoch || log.halted !== null) throw new LeaseLost('another sequencer has the log');
  return log;
}

/**
 * Takes the lease of a log by the database's clock, under a new epoch: an earlier holder can then store nothing more.
 * Undefined, without waiting, while another holder's lease is valid or its transaction is about to change the log, or if
 * the log is halted or does not exist.
 */
export async function takeLease(
  tx: Tx,
  log: LogRef,
  holder: string,
): Promise<{ log: LogState; databaseMs: number } | undefined> {
  const [row] = await tx.query<LogRow & { databaseTime: Date }>(
    `UPDATE archivist.log
        SET ${LOG.lease_holder} = $3, ${LOG.lease_epoch} = ${LOG.lease_epoch} + 1,
            ${LOG.lease_until} = clock_timestamp() + make_interval(secs => $4)
      WHERE (tenant_id, log_id) = (
        SELECT tenant_id, log_id FROM archivist.log
         WHERE tenant_id = $1 AND log_id = $2 AND halted IS NULL
           AND (lease_until IS NULL OR lease_holder = $3 OR lease_until <= clock_timestamp())
           FOR NO KEY UPDATE SKIP LOCKED)
      RETURNING ${COLUMNS}, clock_timestamp() AS "databaseTime"`,
    [log.tenantId, log.logId, holder, LEASE_SECONDS],
  );
  if (!row) return undefined;
  const { databaseTime, ...leased } = row;
  return { log: logState(leased), databaseMs: databaseTime.getTime() };
}

/** Holds for the row of a log that is as a process left it ($1 to $7): unchanged since, and not leased to another holder. */
export const AS_LEFT = `log.tenant_id = $1 AND log.log_id = $2 AND log.halted IS NULL AND log.lease_epoch = $3
        AND log.size = $4 AND log.seal_number = $5 AND log.published_number = $5 AND log.sealed_size = $4
        AND jsonb_array_length(log.forks) = $7
        AND (log.lease_until IS NULL OR log.lease_holder = $6 OR log.lease_until <= clock_timestamp())`;

/** The values of `AS_LEFT`. */
export function asLeft(left: LogState, holder: string): readonly unknown[] {
  const { tenantId, logId, leaseEpoch, size, sealNumber, forks } = left;
  return [tenantId, logId, leaseEpoch, size, sealNumber, holder, forks.length];
}

/** A log as this process left it. Resolves with the database's clock. */
export async function isAsLeft(tx: Tx, left: LogState, holder: string): Promise<{ databaseMs: number } | undefined> {
  const [row] = await tx.query<{ database_time: Date }>(
    `SELECT clock_timestamp() AS database_time FROM archivist.log WHERE ${AS_LEFT}`,
    [...asLeft(left, holder)],
  );
  return row && { databaseMs: row.database_time.getTime() };
}

/**
 * Settings of the sequencer's transactions. A server aborts the transaction if its holder stops inside it, for
 * example because of a signal: otherwise its row locks would block the next holder for ever. It reads by keys and in the
 * order of an index: a batch knows every row that it wants, and the statistics of tables that fill and empty within
 * seconds mislead the planner.
 */
const settings = {
  idle_in_transaction_session_timeout: `${LEASE_SECONDS}s`,
  ...KEPT_PLANS,
  enable_bitmapscan: 'off',
  enable_sort: 'off',
};

/** The transactions of the sequencer. */
export const SEQUENCER: SystemScope = { system: 'writing', settings };
export const SEQUENCER_READING: SystemScope = { system: 'reading', settings };

/** Lets the next sequencer take over at once, if the lease is still this one. */
export async function releaseLease(tx: Tx, lease: LogState): Promise<void> {
  await tx.execute(
    `UPDATE archivist.log SET ${LOG.lease_until} = clock_timestamp()
      WHERE tenant_id = $1 AND log_id = $2 AND lease_epoch = $3`,
    [lease.tenantId, lease.logId, lease.leaseEpoch],
  );
}

/** Stops the log permanently, unless another holder has changed it. Returns whether it was stopped. */
export async function haltLog(tx: Tx, lease: LogState, reason: string): Promise<boolean> {
  const touched = await tx.execute(
    `UPDATE archivist.log SET ${LOG.halted} = $4
      WHERE tenant_id = $1 AND log_id = $2 AND lease_epoch = $3 AND halted IS NULL`,
    [lease.tenantId, lease.logId, lease.leaseEpoch, reason],
  );
  return touched === 1;
}

const movedOn = () => new LeaseLost('the log has moved on');

/** A log's next state: of the same lease, or of the lease that begins with it. */
type Grown = Pick<LogState, 'size' | 'leaves' | 'lastIdtimestamp' | 'leaseEpoch'>;

/**
 * Moves the log from `old` to its next size and seal, only if it is exactly at `old`, sealed and published, and no other
 * sequencer has taken its lease since. If `next` has a new epoch, the holder takes the lease with it, unless another
 * holder's lease is valid.
 * @throws {LeaseLost}; the caller's transaction then stores nothing
 */
export function swapGrown(old: LogState, next: Grown, holder: string): SqlStatement {
  return affectsExactly(
    1,
    movedOn,
    `UPDATE archivist.log
        SET ${LOG.size} = $5, ${LOG.leaves} = $6, ${LOG.last_idtimestamp} = $7,
            ${LOG.seal_number} = $8::bigint + 1, ${LOG.sealed_size} = $5, ${LOG.lease_holder} = $10,
            ${LOG.lease_epoch} = $11, ${LOG.lease_until} = clock_timestamp() + make_interval(secs => $9)
      WHERE tenant_id = $1 AND log_id = $2 AND size = $3 AND sealed_size = $3 AND lease_epoch = $4
        AND seal_number = $8 AND published_number = $8 AND halted IS NULL
        AND (lease_epoch = $11 OR lease_until IS NULL OR lease_holder = $10 OR lease_until <= clock_timestamp())`,
    [
      old.tenantId,
      old.logId,
      old.size,
      old.leaseEpoch,
      next.size,
      next.leaves,
      uint64ToBytes(next.lastIdtimestamp),
      old.sealNumber,
      LEASE_SECONDS,
      holder,
      next.leaseEpoch,
    ],
  );
}

/**
 * Makes the next number the log's last seal, only if the seal before it is published and the lease is the same.
 * @throws {LeaseLost}; the caller's transaction then stores nothing
 */
export function swapSeal(old: LogState): SqlStatement {
  return affectsExactly(
    1,
    movedOn,
    `UPDATE archivist.log
        SET ${LOG.seal_number} = $3::bigint + 1, ${LOG.sealed_size} = $4,
            ${LOG.lease_until} = clock_timestamp() + make_interval(secs => $6)
      WHERE tenant_id = $1 AND log_id = $2 AND seal_number = $3 AND published_number = $3 AND size = $4
        AND lease_epoch = $5 AND halted IS NULL`,
    [old.tenantId, old.logId, old.sealNumber, old.size, old.leaseEpoch, LEASE_SECONDS],
  );
}

/**
 * Marks the last seal as published: from then on it can back receipts. Renews the lease, or ends it with the round.
 * @throws {LeaseLost}
 */
export function swapPublished(old: LogState, lease: 'renewed' | 'ended' = 'renewed'): SqlStatement {
  return affectsExactly(
    1,
    movedOn,
    `UPDATE archivist.log
        SET ${LOG.published_number} = ${LOG.seal_number}, ${LOG.published_size} = ${LOG.sealed_size},
            ${LOG.lease_until} = clock_timestamp() + make_interval(secs => $6)
      WHERE tenant_id = $1 AND log_id = $2 AND seal_number = $3 AND published_number = $4 AND lease_epoch = $5
        AND halted IS NULL`,
    [
      old.tenantId,
      old.logId,
      old.sealNumber,
      old.publishedNumber,
      old.leaseEpoch,
      lease === 'renewed' ? LEASE_SECONDS : 0,
    ],
  );
}
