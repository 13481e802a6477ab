import type { ComplianceInput } from './compliance-check.js';
import type { CompliancePolicy } from './compliance-policy.js';
import { pairEvents } from './pairing.js';
import { timePeriodMs } from './time-period.js';

/**
 * The first millisecond after `compliantAtMs` at which the verdict of a policy may differ although nothing happens:
 * until then, `checkPolicy` returns the same for the same events and attributes. Undefined if time changes nothing.
 * Events of the future, from a clock that ran ahead, count from their own time on.
 */
export function nextChange(
  policy: CompliancePolicy,
  input: Pick<ComplianceInput, 'events' | 'compliantAtMs'>,
): number | undefined {
  const { events, compliantAtMs } = input;
  const named = [policy.event_display_type, policy.closing_event_display_type].filter((name) => name !== '');
  let next = Number.POSITIVE_INFINITY;
  const consider = (atMs: number): void => {
    if (atMs > compliantAtMs) next = Math.min(next, atMs);
  };
  for (const { displayType, acceptedAtMs } of events)
    if (displayType !== undefined && named.includes(displayType)) consider(acceptedAtMs);
  for (const atMs of ends(policy, input)) consider(atMs + 1);
  return next === Number.POSITIVE_INFINITY ? undefined : next;
}

/** The last milliseconds of the periods and windows that events have begun. */
function ends(
  policy: CompliancePolicy,
  { events, compliantAtMs }: Pick<ComplianceInput, 'events' | 'compliantAtMs'>,
): number[] {
  switch (policy.compliance_type) {
    case 'COMPLIANCE_SINCE':
      return events
        .filter(({ displayType, acceptedAtMs }) => {
          return displayType === policy.event_display_type && acceptedAtMs <= compliantAtMs;
        })
        .map(({ acceptedAtMs }) => acceptedAtMs + timePeriodMs(policy));
    case 'COMPLIANCE_PERIOD_OUTSTANDING':
      return pairEvents(policy, { events, compliantAtMs }).outstanding.map(
        ({ acceptedAtMs }) => acceptedAtMs + timePeriodMs(policy),
      );
    case 'COMPLIANCE_DYNAMIC_TOLERANCE':
      return pairEvents(policy, { events, compliantAtMs }).closed.map(
        ({ closing }) => closing.acceptedAtMs + Number(policy.dynamic_window) * 1000,
      );
    case 'COMPLIANCE_CURRENT_OUTSTANDING':
    case 'COMPLIANCE_RICHNESS':
      return [];
  }
}
