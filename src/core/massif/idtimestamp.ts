// An idtimestamp is 64 bits: 40 of milliseconds since the epoch's start, 24 that tell ids of one millisecond apart.
import { VerificationError } from '../errors.js';

/** The epoch of every id that the service makes: 2004-11-03 to 2039-09-07. */
export const EPOCH = 1;

const MILLISECONDS_IN_EPOCH = 2 ** 40 - 1;
/** Unix milliseconds of the first time that has no id in this epoch: 2039-09-07. */
export const EPOCH_END_MS = (EPOCH + 1) * MILLISECONDS_IN_EPOCH;
const SEQUENCE_BITS = 24n;
const MOST = 2n ** 64n - 1n;

/**
 * Returns the lowest id of a Unix time in milliseconds; 0 for a time before the epoch.
 * @throws {RangeError} if the time is after the epoch
 */
export function idtimestampAt(unixMs: number, epoch = EPOCH): bigint {
  const milliseconds = Math.max(0, Math.floor(unixMs) - epoch * MILLISECONDS_IN_EPOCH);
  if (!(milliseconds <= MILLISECONDS_IN_EPOCH)) throw new RangeError(`the time is not in epoch ${epoch}`);
  return BigInt(milliseconds) << SEQUENCE_BITS;
}

/**
 * Returns the id after `last` in a log with one writer. It is an id of the millisecond `nowMs` (Unix), or `last` + 1 if
 * the clock has not moved past `last` or was set back. The worker bits are 0, so the sequence has all 24 low bits.
 * @throws {RangeError} if the epoch has no id left
 */
export function nextIdtimestamp(last: bigint, nowMs: number): bigint {
  const now = idtimestampAt(nowMs);
  if (now > last) return now;
  if (last >= MOST) throw new RangeError('the epoch has no idtimestamp left');
  return last + 1n;
}

/** Returns the Unix time of an id in milliseconds. */
export function idtimestampMs(id: bigint, epoch = EPOCH): number {
  return Number(id >> SEQUENCE_BITS) + epoch * MILLISECONDS_IN_EPOCH;
}

/** Returns 18 lower-case hex characters: the epoch's byte, then the id. */
export function idtimestampHex(id: bigint, epoch = EPOCH): string {
  return epoch.toString(16).padStart(2, '0') + id.toString(16).padStart(16, '0');
}

/**
 * Returns epoch and id of the 18 characters, in either case, without a prefix.
 * @throws {VerificationError} `malformed`
 */
export function parseIdtimestampHex(text: string): { epoch: number; id: bigint } {
  if (!/^[0-9a-f]{18}$/i.test(text)) throw new VerificationError('malformed', 'an idtimestamp is 18 hex characters');
  return { epoch: Number.parseInt(text.slice(0, 2), 16), id: BigInt(`0x${text.slice(2)}`) };
}
