import type { LedgerContext } from '../ledger-context.js';

/** What an audit reads and trusts; an audit signs and changes nothing. */
export type AuditContext = Pick<
  LedgerContext,
  'database' | 'objectStore' | 'verifySignature' | 'leafSource' | 'statementSource'
> & {
  readonly keyring: Pick<LedgerContext['keyring'], 'everyKey'>;
  /** Called for each fault that is found. */
  fault(log: string, what: string): void;
  /** Called with the progress of the audit of a log. */
  progress(log: string, leaves: bigint): void;
};
