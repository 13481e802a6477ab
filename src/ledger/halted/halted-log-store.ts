import { uint64ToBytes } from '../../core/bytes.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { ForkedAt, LogRef, LogState, LogStructure } from '../log.js';
import { COLUMNS, LOG, type LogRow, logState } from '../log-store.js';

/** A log that was stopped because its history is inconsistent. */
export interface HaltedLog extends LogRef {
  readonly structure: LogStructure;
  readonly reason: string;
}

/** Halted logs, by id. */
export async function findHaltedLogs(tx: Tx, limit: number): Promise<HaltedLog[]> {
  const rows = await tx.query<{ tenant_id: string; log_id: string; structure: LogStructure; halted: string }>(
    `SELECT tenant_id, log_id, structure, halted FROM archivist.log WHERE halted IS NOT NULL ORDER BY log_id LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    logId: row.log_id,
    structure: row.structure,
    reason: row.halted,
  }));
}

/** Whether a log of an organisation is not halted. @param publicTenancy owns a log that no organisation writes to directly */
export async function anyTenancyLogRuns(tx: Tx, publicTenancy: string): Promise<boolean> {
  const [row] = await tx.query<{ runs: boolean }>(
    `SELECT EXISTS (SELECT FROM archivist.log
                     WHERE structure = 'MMR_SHA256' AND tenant_id <> $1 AND halted IS NULL) AS runs`,
    [publicTenancy],
  );
  return row!.runs;
}

/** Sorts before the id of every log. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Logs in the order of their ids, after the one with this id. */
export async function logsAfter(tx: Tx, logId: string, limit: number): Promise<LogState[]> {
  const rows = await tx.query<LogRow>(
    `SELECT ${COLUMNS} FROM archivist.log WHERE log_id > $1 ORDER BY log_id LIMIT $2`,
    [logId, limit],
  );
  return rows.map(logState);
}

/** The log with this id, which no other log has. */
export async function findLogById(tx: Tx, logId: string): Promise<LogState | undefined> {
  const [row] = await tx.query<LogRow>(`SELECT ${COLUMNS} FROM archivist.log WHERE log_id = $1`, [logId]);
  return row && logState(row);
}

/**
 * Continues a halted log as its next generation, which is not halted. Returns whether the log was as given: otherwise nothing is
 * changed.
 */
export async function beginGeneration(tx: Tx, log: LogState, fork: ForkedAt): Promise<boolean> {
  const added = {
    generation: fork.generation,
    seal_number: String(fork.sealNumber),
    leaves: String(fork.leaves),
    entry_id: fork.entryId,
  };
  const touched = await tx.execute(
    `UPDATE archivist.log
        SET ${LOG.forks} = ${LOG.forks} || $3::jsonb, ${LOG.halted} = NULL, ${LOG.lease_epoch} = ${LOG.lease_epoch} + 1
      WHERE tenant_id = $1 AND log_id = $2 AND halted = $4 AND seal_number = $5 AND leaves = $6
        AND jsonb_array_length(forks) = $7`,
    [log.tenantId, log.logId, JSON.stringify([added]), log.halted, log.sealNumber, log.leaves, log.forks.length],
  );
  return touched === 1;
}

/** Lets the sequencer take the log again. Returns whether it was halted as given: otherwise nothing is changed. */
export async function clearHalt(tx: Tx, { tenantId, logId, halted }: LogState): Promise<boolean> {
  const touched = await tx.execute(
    `UPDATE archivist.log SET ${LOG.halted} = NULL WHERE tenant_id = $1 AND log_id = $2 AND halted = $3`,
    [tenantId, logId, halted],
  );
  return touched === 1;
}

/** Where a log ends after entries were brought back. */
interface RecoveredEnd {
  readonly size: bigint;
  readonly leaves: bigint;
  readonly sealNumber: bigint;
  readonly lastIdtimestamp: bigint;
}

/**
 * Moves a log to published seals that were brought back, and lets the sequencer take it again. Returns whether the log was
 * as given: otherwise nothing is changed.
 */
export async function putRecovered(tx: Tx, log: LogState, end: RecoveredEnd): Promise<boolean> {
  const touched = await tx.execute(
    `UPDATE archivist.log
        SET ${LOG.size} = $3, ${LOG.sealed_size} = $3, ${LOG.published_size} = $3, ${LOG.leaves} = $4,
            ${LOG.seal_number} = $5, ${LOG.published_number} = $5, ${LOG.last_idtimestamp} = $6,
            ${LOG.halted} = NULL, ${LOG.lease_epoch} = ${LOG.lease_epoch} + 1
      WHERE tenant_id = $1 AND log_id = $2 AND seal_number = $7 AND size = $8 AND sealed_size = $8
        AND halted IS NOT DISTINCT FROM $9`,
    [
      log.tenantId,
      log.logId,
      end.size,
      end.leaves,
      end.sealNumber,
      uint64ToBytes(end.lastIdtimestamp),
      log.sealNumber,
      log.size,
      log.halted,
    ],
  );
  return touched === 1;
}
