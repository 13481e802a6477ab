import { retryLater } from '../errors.js';
import { createSharedRoom, type SharedRoom } from '../shared-room.js';

/** Pages of lists that are read and sent may have so much together, so much for one tenancy, and for one caller. */
const TOTAL_BYTES = 32 * 1024 * 1024;
const TENANCY_BYTES = 24 * 1024 * 1024;
const CALLER_BYTES = 16 * 1024 * 1024;
/** What a page counts as before it is known: the bytes after which one ends (portion-store.ts). */
const PAGE_BYTES = 2 * 1024 * 1024;
const WAIT_MS = 20_000;
const RETRY_SECONDS = 2;

/**
 * Room in bytes for the pages of lists that a process reads and sends at the same time: otherwise, the rows and the
 * responses of all lists that are requested at the same moment are in memory together. A caller has half of it at most,
 * and a tenancy three quarters: a slow reader leaves room for the others of its tenancy. A request that waits for
 * longer than 20 seconds is refused as unavailable.
 */
export function createPageRoom(waitMs = WAIT_MS): SharedRoom {
  return createSharedRoom({
    total: TOTAL_BYTES,
    tenancy: TENANCY_BYTES,
    caller: CALLER_BYTES,
    least: PAGE_BYTES,
    waitMs,
    refusal: noRoom,
  });
}

const noRoom = () => retryLater('unavailable', 'Too many list pages are being read; try again shortly.', RETRY_SECONDS);
