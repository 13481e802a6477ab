import type { LogRef } from '../../ledger/log.js';
import type { StoredStatement } from '../../ledger/statement-store.js';
import type { Plan } from './plan.js';

/** More are read by the log's round: to prepare it for them would gain nothing. */
const MOST = 16;
const MOST_BYTES = 256 * 1024;

/** Registered statements of a log, for some of which callers wait: all that these plans write to the log. */
export interface AwaitedStatements {
  readonly log: LogRef;
  readonly statements: readonly StoredStatement[];
}

/** The logs that may prepare for these plans while they are committed. */
export function awaitedStatements(plans: readonly Plan[]): AwaitedStatements[] {
  if (plans.length > MOST || !plans.some(({ registration }) => registration?.isAwaited)) return [];
  const logs = new Map<string, LogRef & { statements: StoredStatement[]; isAwaited: boolean; isPlain: boolean }>();
  for (const { intake, registration } of plans)
    for (const { tenantId, logId, entryKind } of intake) {
      const log = logs.get(logId) ?? { tenantId, logId, statements: [], isAwaited: false, isPlain: true };
      logs.set(logId, log);
      if (registration && entryKind === 'statement') log.statements.push(registration.statement);
      else log.isPlain = false;
      log.isAwaited ||= registration?.isAwaited === true;
    }
  return [...logs.values()]
    .filter(({ isAwaited, isPlain, statements }) => isAwaited && isPlain && bytesOf(statements) <= MOST_BYTES)
    .map(({ tenantId, logId, statements }) => ({ log: { tenantId, logId }, statements }));
}

function bytesOf(statements: readonly StoredStatement[]): number {
  return statements.reduce((bytes, { entry }) => bytes + entry.length, 0);
}
