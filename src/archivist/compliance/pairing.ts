import type { ComplianceEvent, ComplianceInput } from './compliance-check.js';
import type { CompliancePolicy } from './compliance-policy.js';

interface ClosedPair {
  readonly opening: ComplianceEvent;
  readonly closing: ComplianceEvent;
  readonly durationMs: number;
}

interface Pairing {
  /** In order of closing. */
  readonly closed: readonly ClosedPair[];
  /** Opening events without a closing event, oldest first. */
  readonly outstanding: readonly ComplianceEvent[];
}

/**
 * Pairs opening with closing events of equal correlation value, in order of acceptance, ignoring events accepted after
 * `compliantAtMs`.
 * - A closing event closes the oldest event that is still open, so a reused value makes one pair after the other.
 * - Within one millisecond openings come first: their order is unknown, and a pair may take no time.
 * - An opening event without a correlation value cannot be closed.
 * - A closing event that finds nothing open is ignored.
 */
export function pairEvents(
  policy: Pick<CompliancePolicy, 'event_display_type' | 'closing_event_display_type'>,
  input: Pick<ComplianceInput, 'events' | 'compliantAtMs'>,
): Pairing {
  const ordered = input.events
    .filter((event) => event.acceptedAtMs <= input.compliantAtMs)
    .map((event) => ({ event, opens: event.displayType === policy.event_display_type }))
    .filter(({ event, opens }) => opens || event.displayType === policy.closing_event_display_type)
    .sort((a, b) => a.event.acceptedAtMs - b.event.acceptedAtMs || Number(b.opens) - Number(a.opens));
  const open = new Map<string, ComplianceEvent[]>();
  const outstanding = new Set<ComplianceEvent>();
  const closed: ClosedPair[] = [];
  for (const { event, opens } of ordered) {
    const value = event.correlationValue;
    if (opens) outstanding.add(event);
    if (value === undefined) continue;
    if (opens) {
      const waiting = open.get(value);
      if (waiting) waiting.push(event);
      else open.set(value, [event]);
      continue;
    }
    const opening = open.get(value)?.shift();
    if (opening === undefined) continue;
    outstanding.delete(opening);
    closed.push({ opening, closing: event, durationMs: event.acceptedAtMs - opening.acceptedAtMs });
  }
  return { closed, outstanding: [...outstanding] };
}
