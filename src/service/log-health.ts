import { type Deployment, statementLog } from '../archivist/deployment.js';
import { type LogKind, logKind } from '../archivist/log-kind.js';
import { anyTenancyLogRuns } from '../ledger/halted/halted-log-store.js';
import type { HaltedLogs } from '../ledger/halted/watch-halted-logs.js';
import type { Database } from '../platform/postgres/database.js';

/** A halted log as everybody may know it: what it is for and the ids that its published paths carry anyway. */
export interface HaltedLogHealth {
  readonly log: string;
  readonly tenancy: string;
  readonly kind: LogKind;
}

/** Whether anything can be accepted, and the halted logs. */
export interface LogHealth {
  readonly accepting: boolean;
  readonly halted: readonly HaltedLogHealth[];
}

/**
 * Nothing can be accepted if both statement logs of the deployment are halted, or the log of every tenancy.
 */
export async function logHealth(parts: {
  readonly database: Database;
  readonly deployment: Deployment;
  readonly halted: HaltedLogs;
}): Promise<LogHealth> {
  const { database, deployment } = parts;
  const halted = parts.halted.list();
  if (halted.length === 0) return { accepting: true, halted: [] };
  const statementsHalted = [true, false].every((isPublic) =>
    parts.halted.has(statementLog(deployment, isPublic).logId),
  );
  const tenancyRuns = await database.inTransaction('system', (tx) => anyTenancyLogRuns(tx, deployment.publicTenancy));
  return {
    accepting: !statementsHalted && tenancyRuns,
    halted: halted.map((log) => ({
      log: log.logId,
      tenancy: log.tenantId,
      kind: logKind(deployment, log),
    })),
  };
}
