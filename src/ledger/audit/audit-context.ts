import type { LedgerContext } from '../ledger-context.js';

/** What an audit reads and trusts; it signs nothing and changes nothing. */
export type AuditContext = Pick<
  LedgerContext,
  'database' | 'objectStore' | 'verifySignature' | 'leafSource' | 'statementSource'
> & {
  readonly keyring: Pick<LedgerContext['keyring'], 'everyKey'>;
  /** Told of each fault that is found. */
  fault(log: string, what: string): void;
  /** Told how far the audit of a log has come. */
  progress(log: string, leaves: bigint): void;
};
