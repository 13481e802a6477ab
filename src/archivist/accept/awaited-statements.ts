import type { LogRef } from '../../ledger/log.js';
import type { StoredStatement } from '../../ledger/statement-store.js';
import type { Plan } from './plan.js';

/** A log gains nothing by preparing for more: its round reads them. */
const MOST = 16;
const MOST_BYTES = 256 * 1024;

/** Registered statements of a log, for some of which callers wait: all that these plans write to the log. */
export interface AwaitedStatements {
  readonly log: LogRef;
  readonly statements: readonly StoredStatement[];
}

/** The logs that may prepare for these plans while they are committed. */
export function awaitedStatements(plans: readonly Plan[]): AwaitedStatements[] {
  if (plans.length > MOST) return [];
  /** By log, the registrations whose statements are its new entries; undefined for any other entry. */
  const logs = new Map<string, { readonly log: LogRef; readonly entries: Plan['registration'][] }>();
  for (const { intake, registration } of plans)
    for (const { tenantId, logId, entryKind } of intake) {
      const known = logs.get(logId) ?? { log: { tenantId, logId }, entries: [] };
      logs.set(logId, known);
      known.entries.push(entryKind === 'statement' ? registration : undefined);
    }
  return [...logs.values()].flatMap(({ log, entries }) => {
    const registered = entries.filter((entry) => entry !== undefined);
    const isAwaited = registered.some((entry) => entry.isAwaited);
    if (!isAwaited || registered.length < entries.length) return [];
    const statements = registered.map(({ statement }) => statement);
    return bytesOf(statements) <= MOST_BYTES ? [{ log, statements }] : [];
  });
}

function bytesOf(statements: readonly StoredStatement[]): number {
  return statements.reduce((bytes, { entry }) => bytes + entry.length, 0);
}
