import type { Tx } from '../platform/postgres/database.js';

/** A statement of an event: the tagged COSE_Sign1 that the log commits to. */
export interface StoredStatement {
  readonly tenantId: string;
  readonly eventId: string;
  readonly entry: Uint8Array;
}

/**
 * Stores statements that do not exist yet; existing bytes win, because the log may have committed to them. Resolves
 * with the number of stored ones.
 */
export async function insertStatements(tx: Tx, statements: readonly StoredStatement[]): Promise<number> {
  if (statements.length === 0) return 0;
  return tx.execute(
    `INSERT INTO archivist.statement (tenant_id, event_id, entry)
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bytea[])
     ON CONFLICT DO NOTHING`,
    [
      statements.map((statement) => statement.tenantId),
      statements.map((statement) => statement.eventId),
      statements.map((statement) => statement.entry),
    ],
  );
}

/** The stored statements of these events. */
export async function statementEntries(
  tx: Tx,
  events: readonly { readonly tenantId: string; readonly eventId: string }[],
): Promise<StoredStatement[]> {
  if (events.length === 0) return [];
  const rows = await tx.query<{ tenant_id: string; event_id: string; entry: Uint8Array }>(
    `SELECT s.tenant_id, s.event_id, s.entry
       FROM unnest($1::uuid[], $2::uuid[]) AS wanted (tenant_id, event_id)
       JOIN archivist.statement s ON s.tenant_id = wanted.tenant_id AND s.event_id = wanted.event_id`,
    [events.map((event) => event.tenantId), events.map((event) => event.eventId)],
  );
  return rows.map((row) => ({ tenantId: row.tenant_id, eventId: row.event_id, entry: row.entry }));
}

/** The signed statement of one event, as the log commits to it; undefined until it is signed. */
export async function statementBytes(tx: Tx, tenantId: string, eventId: string): Promise<Uint8Array | undefined> {
  const [found] = await statementEntries(tx, [{ tenantId, eventId }]);
  return found?.entry;
}
