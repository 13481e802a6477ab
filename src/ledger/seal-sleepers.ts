import type { LogRef } from './log.js';

/** Callers that sleep until one of their logs has a new published seal. */
interface SealSleepers {
  /** Resolves when one of these logs is woken, at the latest after this time. */
  sleep(logs: readonly LogRef[], atMostMs: number): Promise<void>;
  /** Wakes those that sleep for this log; without a log, all. */
  wake(logId: string | undefined): void;
}

interface Sleeper {
  readonly logIds: readonly string[];
  wake(): void;
}

/** Returns an empty set of sleepers. */
export function createSealSleepers(): SealSleepers {
  const sleepers = new Set<Sleeper>();
  return {
    sleep: (logs, atMostMs) =>
      new Promise((resolve) => {
        const wake = (): void => {
          clearTimeout(late);
          sleepers.delete(sleeper);
          resolve();
        };
        const sleeper: Sleeper = { logIds: logs.map(({ logId }) => logId), wake };
        const late = setTimeout(wake, atMostMs);
        sleepers.add(sleeper);
      }),
    wake(logId) {
      for (const sleeper of sleepers) if (logId === undefined || sleeper.logIds.includes(logId)) sleeper.wake();
    },
  };
}
