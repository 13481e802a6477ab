import type { LedgerContext } from '../ledger-context.js';
import type { LogRef, LogState } from '../log.js';
import type { AuditFrontier } from './audit-frontier.js';
import type { DeriveRange } from './derive-range.js';

/** The data that an audit reads and the keys that it trusts. An audit signs and changes nothing. */
export type AuditContext = Pick<
  LedgerContext,
  'database' | 'objectStore' | 'verifySignature' | 'leafSource' | 'statementSource'
> & {
  readonly keyring: Pick<LedgerContext['keyring'], 'everyKey'>;
  /** Derives the leaves of a log, possibly in other threads. */
  readonly derive: DeriveRange;
  /** How many ranges of a log are derived at a time. */
  readonly rangesAhead: number;
  /** Leaves of a range. */
  readonly rangeLeaves: bigint;
  /** How far an earlier run of this audit came; without it, each log is audited from its first leaf. */
  readonly progressOf?: {
    /** With the faults up to there, which are reported again. */
    earlier(log: LogRef): (AuditFrontier & { readonly faults: readonly string[] }) | undefined;
    /** Everything up to a seal was audited, and each fault up to there was reported. */
    reached(log: LogState, frontier: AuditFrontier): Promise<void>;
  };
  /** True as soon as the audit should end early, which it does by throwing an {AuditStopped}. */
  stopping?(): boolean;
  /** Called for each fault that is found. */
  fault(log: string, what: string): void;
  /** Called with the progress of the audit of a log. */
  progress(log: string, leaves: bigint): void;
};

/** The audit ended before its verdict because it was told to. */
export class AuditStopped extends Error {
  override readonly name = 'AuditStopped';
}
