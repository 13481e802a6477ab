import { selected, table } from '../platform/postgres/columns.js';
import type { SqlStatement, Tx } from '../platform/postgres/database.js';
import { insertsOf, insertsOfNew } from '../platform/postgres/insert-rows.js';

/** A statement of an event: the tagged COSE_Sign1 that the log commits to. */
export interface StoredStatement {
  readonly tenantId: string;
  readonly eventId: string;
  readonly entry: Uint8Array;
}

const STATEMENT = table('statement').columns<StoredStatement>({
  tenantId: 'tenant_id',
  eventId: 'event_id',
  entry: 'entry',
});

/** Stores those statements that do not exist yet; existing bytes win, because the log may have committed to them. */
export function insertMissingStatements(statements: readonly StoredStatement[]): Iterable<SqlStatement> {
  return insertsOf(STATEMENT, statements, 'ON CONFLICT DO NOTHING');
}

/**
 * Stores statements, none of which exists yet.
 * @param existing makes what is thrown if one does; the database's error unless told
 */
export function insertStatements(
  statements: readonly StoredStatement[],
  existing?: () => Error,
): Iterable<SqlStatement> {
  return existing ? insertsOfNew(STATEMENT, statements, existing) : insertsOf(STATEMENT, statements);
}

/** The stored statements of these events. */
export async function statementEntries(
  tx: Tx,
  events: readonly { readonly tenantId: string; readonly eventId: string }[],
): Promise<StoredStatement[]> {
  if (events.length === 0) return [];
  return tx.query<StoredStatement>(
    `SELECT ${selected(STATEMENT, 's')}
       FROM unnest($1::uuid[], $2::uuid[]) AS wanted (tenant_id, event_id)
       JOIN archivist.statement s ON s.tenant_id = wanted.tenant_id AND s.event_id = wanted.event_id`,
    [events.map((event) => event.tenantId), events.map((event) => event.eventId)],
  );
}

/** The signed statement of one event, as the log commits to it; undefined until it is signed. */
export async function statementBytes(tx: Tx, tenantId: string, eventId: string): Promise<Uint8Array | undefined> {
  const [found] = await statementEntries(tx, [{ tenantId, eventId }]);
  return found?.entry;
}
