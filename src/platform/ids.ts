import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.js';

/** Source of ids and random bytes. */
export interface Ids {
  /** A UUIDv7 in lower case (RFC 9562 section 5.7), strictly greater than every earlier one of this process. */
  uuid(): string;
  /** Bytes from the system's cryptographic generator. */
  randomBytes(count: number): Uint8Array;
}

/** Bits after the time that count within a millisecond; the other 32 random bits are new in each id. */
const COUNTER_BITS = 42n;
const COUNTER_MASK = (1n << COUNTER_BITS) - 1n;
/** A millisecond starts in the lower quarter of the counter, so that the counter never overflows. */
const COUNTER_START_BYTES = 5;
/** Random bytes of ids are requested in blocks of this size: the call costs more than the bytes. */
const DRAWN_BYTES = 1024;

/**
 * Ids in ascending order: 48 bits of time, a 42-bit counter that starts at random in its lower quarter, 32 random bits
 * (RFC 9562 section 6.2, methods 1 and 3). While the clock stands still or steps back, ids keep the last time and the
 * counter goes on.
 */
export function createIds(clock: Clock): Ids {
  let last = 0n;
  let drawn = randomBytes(DRAWN_BYTES);

  /** Hex digits of random bytes, each used once. */
  function randomHex(count: number): string {
    if (drawn.length < count) drawn = randomBytes(DRAWN_BYTES);
    const hex = drawn.toString('hex', 0, count);
    drawn = drawn.subarray(count);
    return hex;
  }

  function next(): bigint {
    const now = BigInt(clock.now());
    const starts = now > last >> COUNTER_BITS;
    last = starts ? (now << COUNTER_BITS) | BigInt(`0x${randomHex(COUNTER_START_BYTES)}`) : last + 1n;
    return last;
  }

  return {
    uuid: () => written(next(), randomHex(4)),
    randomBytes: (count) => new Uint8Array(randomBytes(count)),
  };
}

/** The least id after this one (a UUIDv7 of any process), with random bits of its own. */
export function uuidAfter(earlier: string, ids: Pick<Ids, 'randomBytes'>): string {
  const hex = earlier.replaceAll('-', '');
  const time = BigInt(`0x${hex.slice(0, 12)}`);
  const high = BigInt(`0x${hex.slice(13, 16)}`);
  const middle = BigInt(`0x${hex.slice(16, 20)}`) & 0x3fffn;
  const low = BigInt(`0x${hex.slice(20, 24)}`);
  const counter = (high << 30n) | (middle << 16n) | low;
  return written(((time << COUNTER_BITS) | counter) + 1n, Buffer.from(ids.randomBytes(4)).toString('hex'));
}

/** A UUIDv7 with this time and counter, and these eight random digits. */
function written(ordered: bigint, randomDigits: string): string {
  const time = (ordered >> COUNTER_BITS).toString(16).padStart(12, '0');
  const counter = ordered & COUNTER_MASK;
  const high = (counter >> 30n).toString(16).padStart(3, '0');
  const middle = (0x8000n | ((counter >> 16n) & 0x3fffn)).toString(16);
  const low = (counter & 0xffffn).toString(16).padStart(4, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${high}-${middle}-${low}${randomDigits}`;
}
