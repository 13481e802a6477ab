import type { IncomingMessage } from 'node:http';
import { retryLater } from '../errors.js';
import type { Holder } from '../room-shares.js';
import { createSharedRoom, type Hold, type SharedRoom } from '../shared-room.js';
import { clientGone } from './client-gone.js';

/** Bodies that are read and handled may have so much together, so much for one tenancy, and for one caller. */
const TOTAL_BYTES = 32 * 1024 * 1024;
const TENANCY_BYTES = 24 * 1024 * 1024;
const CALLER_BYTES = 16 * 1024 * 1024;
/** A shorter body takes no room: all that a listener's connections can have of them is little. */
const SHORT_BYTES = 64 * 1024;
const WAIT_MS = 20_000;
const RETRY_SECONDS = 2;

/**
 * Room in bytes for the long bodies that a process has in memory at the same time: otherwise, one caller could send a
 * bulk request of megabytes on each of a thousand connections, and end none of them.
 */
export function createBodyRoom(waitMs = WAIT_MS): SharedRoom {
  return createSharedRoom({
    total: TOTAL_BYTES,
    tenancy: TENANCY_BYTES,
    caller: CALLER_BYTES,
    least: SHORT_BYTES,
    waitMs,
    refusal: noRoom,
  });
}

/**
 * Holds room for the body of a request; undefined if it is short. A body without a declared length counts as the
 * longest that is accepted.
 * @throws {ApiError} unavailable after 20 seconds without room
 */
export async function holdBody(
  room: SharedRoom,
  request: IncomingMessage,
  limit: number,
  holder: Holder,
): Promise<Hold | undefined> {
  const length = Math.min(limit, Number(request.headers['content-length'] ?? limit));
  if (length <= SHORT_BYTES) return undefined;
  return room.hold(holder, clientGone(request), length);
}

const noRoom = () =>
  retryLater('unavailable', 'Too many long bodies are being received; try again shortly.', RETRY_SECONDS);
