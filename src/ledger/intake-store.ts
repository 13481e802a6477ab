import { selected, table } from '../platform/postgres/columns.js';
import type { SqlStatement, Tx } from '../platform/postgres/database.js';
import { insertInto } from '../platform/postgres/insert-rows.js';
import { affectsExactly } from './exact-rows-store.js';
import type { EntryKind, WaitingEntry } from './leaf-source.js';
import type { LogRef } from './log.js';
import { LeaseLost } from './log-inconsistent.js';

export interface IntakeRow extends LogRef {
  readonly entryId: string;
  readonly entryKind: EntryKind;
  readonly entryTenantId: string;
  /** About how long the entry is, in bytes: its statement's bytes, or its event's JSON text. */
  readonly entryLength: number;
}

/** The intake row of an entry that waits for `log`. */
export function intakeRow({ tenantId, logId }: LogRef, entry: Omit<IntakeRow, keyof LogRef>): IntakeRow {
  return { tenantId, logId, ...entry };
}

const INTAKE = table('intake').columns<IntakeRow>({
  tenantId: 'tenant_id',
  logId: 'log_id',
  entryId: 'entry_id',
  entryKind: 'entry_kind',
  entryTenantId: 'entry_tenant_id',
  entryLength: 'entry_length',
});

/** Rows that differ only in their entries. */
interface GroupedRows extends Omit<IntakeRow, 'entryId' | 'entryLength'> {
  readonly entryIds: string[];
  readonly entryLengths: number[];
}

/**
 * Queues entries for their logs, in the transaction that accepts them: once it commits, each entry is in its log
 * exactly once or still waiting (docs/design/README.md#promises). An entry that already waits stays unchanged.
 */
export function insertIntake(rows: readonly IntakeRow[]): SqlStatement[] {
  return intakeInserts(rows, 'ON CONFLICT DO NOTHING');
}

/** The same for entries whose ids the transaction has made: one that already waits is a database error. */
export function insertNewIntake(rows: readonly IntakeRow[]): SqlStatement[] {
  return intakeInserts(rows, '');
}

function intakeInserts(rows: readonly IntakeRow[], rest: string): SqlStatement[] {
  if (rows.length === 0) return [];
  const groups = new Map<string, GroupedRows>();
  for (const { tenantId, logId, entryId, entryKind, entryTenantId, entryLength } of rows) {
    const key = `${tenantId} ${logId} ${entryKind} ${entryTenantId}`;
    const group = groups.get(key) ?? { tenantId, logId, entryKind, entryTenantId, entryIds: [], entryLengths: [] };
    groups.set(key, group);
    group.entryIds.push(entryId);
    group.entryLengths.push(entryLength);
  }
  const text = `${insertInto(INTAKE)}
     SELECT "tenantId", "logId", entry_id, "entryKind", "entryTenantId", entry_length
       FROM jsonb_to_recordset($1::jsonb)
              AS n("tenantId" uuid, "logId" uuid, "entryKind" text, "entryTenantId" uuid, "entryIds" uuid[],
                   "entryLengths" integer[]),
            unnest("entryIds", "entryLengths") AS entry(entry_id, entry_length)
     ${rest}`;
  return [{ text, values: [JSON.stringify([...groups.values()])] }];
}

/** A waiting entry, and about how long it is. */
export type QueuedEntry = WaitingEntry & Pick<IntakeRow, 'entryLength'>;

/** Before every entry. */
export const FIRST_ENTRY = '00000000-0000-0000-0000-000000000000';

/**
 * The oldest waiting entries after `after`, in id order. Reads only the rows that it returns, regardless of how many
 * wait; `after` skips those that this process has removed and the database still keeps for older transactions.
 */
export async function waitingEntries(tx: Tx, log: LogRef, after: string, limit: number): Promise<QueuedEntry[]> {
  return tx.query<QueuedEntry>(
    `SELECT ${selected(INTAKE, 'i', ['entryId', 'entryKind', 'entryTenantId', 'entryLength'])} FROM archivist.intake i
      WHERE i.tenant_id = $1 AND i.log_id = $2 AND i.entry_id > $3 ORDER BY i.entry_id LIMIT $4`,
    [log.tenantId, log.logId, after, limit],
  );
}

/** Counting a million entries took the database as long as logging a thousand of them. */
const MOST_COUNTED = 100_000;
/**
 * Of the table's pages, in percent. Of 100,000 entries, the estimate is wrong by about a tenth; of a million by a
 * twentieth.
 */
const SAMPLE = 5;
/** From this part of a limit on, the sample might seem to have reached it. */
const NEAR = 0.7;

/**
 * How many entries wait for all logs, at most `most`: counted up to 100,000, and again as the limit comes near. Between
 * these, the number is estimated from a sample.
 */
export async function entriesWaiting(tx: Tx, most: number): Promise<number> {
  const counted = await countWaiting(tx, Math.min(most, MOST_COUNTED));
  if (counted < MOST_COUNTED || most <= MOST_COUNTED) return counted;
  const [sample] = await tx.query<{ entries: bigint }>(
    `SELECT count(*) AS entries FROM archivist.intake TABLESAMPLE SYSTEM (${SAMPLE})`,
  );
  const estimate = (Number(sample!.entries) * 100) / SAMPLE;
  return estimate < NEAR * most ? Math.max(estimate, counted) : countWaiting(tx, most);
}

async function countWaiting(tx: Tx, most: number): Promise<number> {
  const [row] = await tx.query<{ entries: bigint }>(
    'SELECT count(*) AS entries FROM (SELECT FROM archivist.intake LIMIT $1) AS waiting',
    [most],
  );
  return Number(row!.entries);
}

/** Whether this entry still waits for the log. */
export async function isWaiting(tx: Tx, log: LogRef, entryId: string): Promise<boolean> {
  const rows = await tx.query('SELECT FROM archivist.intake WHERE tenant_id = $1 AND log_id = $2 AND entry_id = $3', [
    log.tenantId,
    log.logId,
    entryId,
  ]);
  return rows.length > 0;
}

/**
 * Removes entries, one at least, from the intake; the caller commits them in the same transaction.
 * @throws {LeaseLost} if one of them does not wait any more; the caller's transaction then stores nothing
 */
export function deleteIntake(log: LogRef, entryIds: readonly string[]): SqlStatement {
  const sorted = [...entryIds].sort();
  return affectsExactly(
    sorted.length,
    () => new LeaseLost('an entry of the batch does not wait any more'),
    // The index reads the range. With only the list, all that waits was read from a table without statistics.
    `DELETE FROM archivist.intake WHERE tenant_id = $1 AND log_id = $2
        AND entry_id >= $4 AND entry_id <= $5 AND entry_id = ANY ($3::uuid[])`,
    [log.tenantId, log.logId, sorted, sorted[0], sorted.at(-1)],
  );
}
