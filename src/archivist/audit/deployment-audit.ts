import type { AuditContext } from '../../ledger/audit/audit-context.js';
import type { Deployment } from '../deployment.js';

/** What the audit of a deployment reads, apart from its logs. */
export type DeploymentAudit = Pick<AuditContext, 'database' | 'objectStore' | 'fault' | 'stopping'> & {
  readonly deployment: Deployment;
  /** Rests as long as it works: for an audit beside requests. */
  readonly gently?: boolean;
};

/** Statements that read whole tables, or all events of many assets, may take longer than those of a request. */
export const LONG_STATEMENTS = { system: 'reading', settings: { statement_timeout: '10min' } } as const;
