import type { Attributes } from '../attributes.js';

/** An event of the asset, as compliance sees it. */
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
   * True when the caller reads all events and attributes of this asset. Otherwise reasons hold nothing but the policy's
   * own words (docs/design/interface.md#compliance).
   */
  readonly readable?: boolean;
}

export interface Verdict {
  readonly compliant: boolean;
  /** For a person; at most 1,024 characters, the interface's limit. */
  readonly reason: string;
}

/** An asset event's part in compliance. What is not a text, or an empty one, counts as missing. */
export function complianceEvent(eventAttributes: Attributes, acceptedAtMs: number): ComplianceEvent {
  return {
    displayType: text(eventAttributes['arc_display_type']),
    correlationValue: text(eventAttributes['arc_correlation_value']),
    acceptedAtMs,
  };
}

/** A name or value in a reason: in quotes, and cut where it would crowd out the rest. */
export function quoted(value: string): string {
  const characters = [...value];
  return `"${characters.length > 100 ? `${characters.slice(0, 99).join('')}…` : value}"`;
}

/** A duration in seconds, to the millisecond. */
export function secondsText(ms: number): string {
  return ms === 1000 ? '1 second' : `${ms / 1000} seconds`;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
