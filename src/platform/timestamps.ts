import { z } from 'zod';
import { ApiError } from './errors.js';

// JavaScript and PostgreSQL also read an hour of 24, which RFC 3339 does not have and most other readers refuse.
const RFC3339 =
  /^\d{4}-\d{2}-\d{2}[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** A time in a response: RFC 3339. */
export const timestampSchema = z.string().meta({ format: 'date-time' });

/** `2026-11-21T09:30:00.123Z`: UTC with exactly three decimals, the form of every time that the service sets. */
export function timestampOf(unixMs: number): string {
  return new Date(unixMs).toISOString();
}

/** What `timestamp_committed` reads until a log has committed the event. */
export const NOT_COMMITTED = '1970-01-01T00:00:00Z';

/** A time that a caller sent. */
interface ReadTimestamp {
  /** In UTC. A time in UTC stays as it was written; others are converted, and keep every digit of their fraction. */
  readonly text: string;
  /** Its millisecond: what happened in this one or an earlier one was not after the time. */
  readonly unixMs: number;
  /** The first millisecond that does not begin before the time: what happened earlier was before it. */
  readonly firstMs: number;
}

/**
 * A caller's RFC 3339 time.
 * @throws {ApiError} bad_request naming the field
 */
export function readTimestamp(value: string, field: string): ReadTimestamp {
  const match = RFC3339.exec(value);
  const unixMs = match ? Date.parse(value.toUpperCase()) : Number.NaN;
  if (!match || Number.isNaN(unixMs) || !isDay(value.slice(0, 10)) || !inYears(new Date(unixMs))) {
    throw new ApiError('bad_request', `${field}: must be an RFC 3339 time such as 2026-01-31T12:00:00Z`);
  }
  const [, fraction = '', zone] = match;
  return {
    text: zone === 'Z' && value[10] === 'T' ? value : `${timestampOf(unixMs).slice(0, -1)}${fraction.slice(4)}Z`,
    unixMs,
    firstMs: /[1-9]/.test(fraction.slice(4)) ? unixMs + 1 : unixMs,
  };
}

/** Years that both JavaScript and PostgreSQL can parse. */
function inYears(time: Date): boolean {
  return time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9999;
}

/** JavaScript parses the 30th of February as a day of March; PostgreSQL refuses it. */
function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}
