import type { Tx } from '../platform/postgres/database.js';
import type { EntryKind, WaitingEntry } from './leaf-source.js';
import type { LogRef } from './log.js';

export interface IntakeRow extends LogRef {
  readonly entryId: string;
  readonly entryKind: EntryKind;
  readonly entryTenantId: string;
}

interface WaitingRow {
  entry_id: string;
  entry_kind: EntryKind;
  entry_tenant_id: string;
}

const waitingEntry = (row: WaitingRow): WaitingEntry => ({
  entryId: row.entry_id,
  entryKind: row.entry_kind,
  entryTenantId: row.entry_tenant_id,
});

/**
 * Puts entries before their logs, in the transaction that accepts them: from its commit on, each is in its log once or
 * still waiting to be (DESIGN 7.1). An entry that already waits is left as it is.
 */
export async function insertIntake(tx: Tx, rows: readonly IntakeRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.execute(
    `INSERT INTO archivist.intake (tenant_id, log_id, entry_id, entry_kind, entry_tenant_id)
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[])
     ON CONFLICT DO NOTHING`,
    [
      rows.map((row) => row.tenantId),
      rows.map((row) => row.logId),
      rows.map((row) => row.entryId),
      rows.map((row) => row.entryKind),
      rows.map((row) => row.entryTenantId),
    ],
  );
}

/** The oldest entries that can be committed now, in id order: a statement only once its bytes are stored. */
export async function committableEntries(tx: Tx, log: LogRef, limit: number): Promise<WaitingEntry[]> {
  const rows = await tx.query<WaitingRow>(
    `SELECT i.entry_id, i.entry_kind, i.entry_tenant_id
       FROM archivist.intake i
      WHERE i.tenant_id = $1 AND i.log_id = $2
        AND (i.entry_kind <> 'statement' OR EXISTS (
              SELECT FROM archivist.statement s WHERE s.tenant_id = i.entry_tenant_id AND s.event_id = i.entry_id))
      ORDER BY i.entry_id
      LIMIT $3`,
    [log.tenantId, log.logId, limit],
  );
  return rows.map(waitingEntry);
}

/** The oldest waiting statements that nobody has signed yet. */
export async function unsignedStatements(tx: Tx, log: LogRef, limit: number): Promise<WaitingEntry[]> {
  const rows = await tx.query<WaitingRow>(
    `SELECT i.entry_id, i.entry_kind, i.entry_tenant_id
       FROM archivist.intake i
      WHERE i.tenant_id = $1 AND i.log_id = $2 AND i.entry_kind = 'statement'
        AND NOT EXISTS (
              SELECT FROM archivist.statement s WHERE s.tenant_id = i.entry_tenant_id AND s.event_id = i.entry_id)
      ORDER BY i.entry_id
      LIMIT $3`,
    [log.tenantId, log.logId, limit],
  );
  return rows.map(waitingEntry);
}

/** Takes entries out of the intake; the caller commits them in the same transaction. */
export async function deleteIntake(tx: Tx, log: LogRef, entryIds: readonly string[]): Promise<void> {
  await tx.execute(
    `DELETE FROM archivist.intake WHERE tenant_id = $1 AND log_id = $2 AND entry_id = ANY ($3::uuid[])`,
    [log.tenantId, log.logId, entryIds],
  );
}
