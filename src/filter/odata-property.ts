/** What an events search can compare, besides trails (docs/design/interface.md#asset-free-events). */
export const SEARCH_PROPERTIES = [
  'event_type',
  'origin_tenant',
  'created_by',
  'created_at',
  'ledger_entry/index',
  'ledger_entry/idtimestamp',
  'ledger_entry/content_hash',
] as const;

export type SearchProperty = (typeof SEARCH_PROPERTIES)[number];

const INT64 = 2n ** 63n;
const INTEGER = /^-?\d{1,20}$/;
const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

export function isSearchProperty(name: string): name is SearchProperty {
  return (SEARCH_PROPERTIES as readonly string[]).includes(name);
}

/** True for properties that compare as integers; the others compare as texts, by code point. */
export function isIntegerProperty(property: SearchProperty): boolean {
  return property === 'created_at' || property === 'ledger_entry/index';
}

/**
 * The value of an integer property: 64 bits; for `created_at` Unix milliseconds, or an RFC 3339 time truncated to
 * milliseconds.
 */
export function readInteger(property: SearchProperty, text: string): bigint | { readonly reason: string } {
  if (INTEGER.test(text)) {
    const value = BigInt(text);
    return value >= -INT64 && value < INT64 ? value : { reason: 'expected an integer of 64 bits' };
  }
  if (property !== 'created_at') return { reason: 'expected an integer' };
  return readTime(text) ?? { reason: 'expected Unix milliseconds or a time such as 2026-01-31T12:00:00Z' };
}

function readTime(text: string): bigint | undefined {
  const match = TIME.exec(text);
  if (!match) return undefined;
  const [, day, clock, fraction = '', zone] = match;
  // An invalid day such as February 30 would be parsed as a day of the next month.
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return undefined;
  const unixMs = Date.parse(`${day}T${clock}.${fraction.slice(0, 3).padEnd(3, '0')}${zone}`);
  return Number.isNaN(unixMs) ? undefined : BigInt(unixMs);
}
