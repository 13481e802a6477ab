import type { LedgerContext } from '../ledger-context.js';
import type { LogRef, LogState } from '../log.js';
import { findSuspectLogs } from './find-suspect-logs.js';

/** The logs that seem to contradict the object store. */
interface SuspectLogs {
  /** Looks for them and has them halted; does nothing once a look has found none. */
  halt(): Promise<void>;
  /**
   * Told when the server that answers was started. All logs are suspected again if it is another server than before: a
   * standby that was promoted may lack what was published. Nothing waits for this look; a round checks its own log anyway.
   */
  answeredBy(serverSince: string): void;
}

/**
 * Suspects all logs, until it has looked for the first time.
 * @param roundOf resolves when a round of the log has ended. One round is enough: it confirms the suspicion under the lease,
 * and halts the log
 * @param failed called with the error of a look that nothing waits for; `halt` repeats it
 */
export function suspectLogs(
  context: Pick<LedgerContext, 'database' | 'objectStore'>,
  roundOf: (log: LogRef) => Promise<void>,
  failed: (error: unknown) => void,
): SuspectLogs {
  /** Logs that must be compared with the object store (again); undefined: all of them. */
  let suspects: readonly LogState[] | undefined;
  let isLookingAgain = false;
  let server: string | undefined;

  async function look(): Promise<void> {
    suspects = await findSuspectLogs(context, suspects);
    await Promise.all(suspects.map(roundOf));
  }

  async function lookAgain(): Promise<void> {
    isLookingAgain = true;
    suspects = undefined;
    await look().catch(failed);
    isLookingAgain = false;
  }

  return {
    async halt() {
      if (!isLookingAgain && suspects?.length !== 0) await look();
    },
    answeredBy(serverSince) {
      // A server that took over meanwhile is told again by the next sweep.
      if (isLookingAgain) return;
      const isAnother = server !== undefined && server !== serverSince;
      server = serverSince;
      if (isAnother) void lookAgain();
    },
  };
}
