import { retryLater } from '../../platform/errors.js';
import { createSharedRoom } from '../../platform/shared-room.js';

/** Acts of a tenancy that may wait. */
const MOST_WAITING = 256;
const WAIT_MS = 20_000;
const RETRY_SECONDS = 2;

/** Lets the administrative acts of a tenancy run one after the other in this process. */
export interface ActTurns {
  /**
   * Runs an act when those of its tenancy that came before have ended. Acts of other tenancies do not wait for it.
   * @throws {ApiError} unavailable after 20 seconds, or while 256 acts of the tenancy wait; else every error of `run`
   */
  inTurn<Result>(tenantId: string, run: () => Promise<Result>): Promise<Result>;
}

/**
 * Makes the turns of a process. Most acts lock a row of their tenancy: without turns, each act that waits for the lock
 * has a connection meanwhile, and a few of one tenancy keep all others out. The locks stay, for acts of other processes.
 */
export function createActTurns(): ActTurns {
  const room = createSharedRoom({
    total: Number.POSITIVE_INFINITY,
    tenancy: 1,
    caller: 1,
    least: 1,
    waiting: MOST_WAITING,
    waitMs: WAIT_MS,
    refusal: tooMany,
  });
  return {
    async inTurn(tenantId, run) {
      const turn = await room.hold({ caller: tenantId, tenancy: tenantId });
      try {
        return await run();
      } finally {
        turn.release();
      }
    },
  };
}

const tooMany = () =>
  retryLater(
    'unavailable',
    'Too many administrative changes of this tenancy are waiting; try again shortly.',
    RETRY_SECONDS,
  );
