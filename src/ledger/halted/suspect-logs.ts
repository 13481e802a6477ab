import type { LedgerContext } from '../ledger-context.js';
import type { LogRef, LogState } from '../log.js';
import { findSuspectLogs } from './find-suspect-logs.js';

/** The logs that seem to contradict the object store. */
interface SuspectLogs {
  /** Looks for them and has them halted; does nothing once a look has found none. */
  halt(): Promise<void>;
}

/**
 * Suspects all logs, until it has looked for the first time.
 * @param roundOf resolves when a round of the log has ended. One round is enough: it confirms the suspicion under the lease,
 * and halts the log
 */
export function suspectLogs(
  context: Pick<LedgerContext, 'database' | 'objectStore'>,
  roundOf: (log: LogRef) => Promise<void>,
): SuspectLogs {
  /** Logs that must be compared with the object store (again); undefined: all of them. */
  let suspects: readonly LogState[] | undefined;
  return {
    async halt() {
      if (suspects?.length === 0) return;
      suspects = await findSuspectLogs(context, suspects);
      await Promise.all(suspects.map(roundOf));
    },
  };
}
