import { type ComplianceInput, durationText, quoted, type Verdict } from './compliance-check.js';
import type { CompliancePolicy } from './compliance-policy.js';
import { outstandingText } from './outstanding-text.js';
import { pairEvents } from './pairing.js';
import { timePeriodMs } from './time-period.js';

/**
 * COMPLIANCE_PERIOD_OUTSTANDING: passes when no pair took longer than `time_period_seconds`. An event that has already
 * waited longer than that also fails, because its pair would take too long.
 */
export function checkPeriodOutstanding(policy: CompliancePolicy, input: ComplianceInput): Verdict {
  const { closed, outstanding } = pairEvents(policy, input);
  const limit = timePeriodMs(policy);
  const longest = closed.reduce((most, { durationMs }) => Math.max(most, durationMs), 0);
  const overdue = outstanding.filter((event) => input.compliantAtMs - event.acceptedAtMs > limit);
  const opening = quoted(policy.event_display_type);
  const closing = quoted(policy.closing_event_display_type);
  const period = durationText(limit);
  if (longest <= limit && overdue.length === 0) {
    return { compliant: true, reason: `No event ${opening} waited longer than ${period} for its event ${closing}.` };
  }
  const failed = `An event ${opening} waited longer than ${period} for its event ${closing}`;
  if (!input.readable) return { compliant: false, reason: `${failed}.` };
  const detail =
    overdue.length > 0 ? `still waiting: ${outstandingText(overdue)}` : `the longest ${durationText(longest)}`;
  return { compliant: false, reason: `${failed}; ${detail}.` };
}
