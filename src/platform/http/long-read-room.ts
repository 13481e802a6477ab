import { retryLater } from '../errors.js';
import { createSharedRoom, type SharedRoom } from '../shared-room.js';

/** Long reads that run at the same time: all, those of one tenancy, and those of one caller. */
const TOTAL = 4;
const OF_TENANCY = 3;
const OF_CALLER = 2;
const WAIT_MS = 20_000;
const RETRY_SECONDS = 2;

/**
 * Room for requests that make many reads in one transaction, or count all that a search means. The database has ten
 * connections, or the embedded engine one, and gives them away in order of arrival: a few such requests of one caller
 * would hold up everybody else. A request that waits for longer than 20 seconds is refused as unavailable.
 */
export function createLongReadRoom(): SharedRoom {
  return createSharedRoom({
    total: TOTAL,
    tenancy: OF_TENANCY,
    caller: OF_CALLER,
    least: 1,
    waitMs: WAIT_MS,
    refusal: noRoom,
  });
}

const noRoom = () => retryLater('unavailable', 'Too many long reads are running; try again shortly.', RETRY_SECONDS);
