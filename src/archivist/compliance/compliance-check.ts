import type { Attributes } from '../attributes.js';

/** The fields of an asset's event that compliance uses. */
export interface ComplianceEvent {
  /** `arc_display_type` of the event attributes. */
  readonly displayType: string | undefined;
  /** `arc_correlation_value` of the event attributes. */
  readonly correlationValue: string | undefined;
  /** `timestamp_accepted`, whole Unix milliseconds. */
  readonly acceptedAtMs: number;
}

/** What a policy is checked against (docs/design/interface.md#compliance). */
export interface ComplianceInput {
  /** In any order. Those accepted after `compliantAtMs` are ignored. */
  readonly events: readonly ComplianceEvent[];
  /** As they were at `compliantAtMs`. */
  readonly assetAttributes: Attributes;
  readonly compliantAtMs: number;
  /**
   * True when the caller may read all events and attributes of this asset. Otherwise reasons contain only the policy's
   * own values (docs/design/interface.md#compliance).
   */
  readonly readable?: boolean;
}

export interface Verdict {
  readonly compliant: boolean;
  /** Readable text of at most 1,024 characters, the interface's limit. */
  readonly reason: string;
}

/** Reads the fields that compliance uses. A value that is not a text, or is empty, counts as missing. */
export function complianceEvent(eventAttributes: Attributes, acceptedAtMs: number): ComplianceEvent {
  return {
    displayType: text(eventAttributes['arc_display_type']),
    correlationValue: text(eventAttributes['arc_correlation_value']),
    acceptedAtMs,
  };
}

/** Quotes a name or value for a reason, and truncates it if it is long. */
export function quoted(value: string): string {
  const characters = [...value];
  return `"${characters.length > 100 ? `${characters.slice(0, 99).join('')}…` : value}"`;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** Returns a duration in words, to the millisecond: `2 days 3 hours`, `1 minute 0.5 seconds`. */
export function durationText(ms: number): string {
  const parts: string[] = [];
  let rest = ms;
  for (const [unit, length] of UNITS) {
    const count = Math.floor(rest / length);
    if (count > 0) parts.push(counted(count, unit));
    rest -= count * length;
  }
  if (rest > 0 || parts.length === 0) parts.push(counted(rest / 1000, 'second'));
  return parts.join(' ');
}

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`;

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
