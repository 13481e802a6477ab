import { type ComplianceInput, durationText, quoted, type Verdict } from './compliance-check.js';
import type { CompliancePolicy } from './compliance-policy.js';
import { timePeriodMs } from './time-period.js';

/**
 * COMPLIANCE_SINCE: passes when the last event of the type was accepted no more than `time_period_seconds` before
 * `compliantAtMs`; fails without such an event.
 */
export function checkSince(policy: CompliancePolicy, input: ComplianceInput): Verdict {
  const type = quoted(policy.event_display_type);
  const period = durationText(timePeriodMs(policy));
  let last = -Infinity;
  for (const { displayType, acceptedAtMs } of input.events) {
    if (displayType === policy.event_display_type && acceptedAtMs <= input.compliantAtMs) {
      last = Math.max(last, acceptedAtMs);
    }
  }
  const age = input.compliantAtMs - last;
  const compliant = age <= timePeriodMs(policy);
  if (!input.readable) {
    return { compliant, reason: `${compliant ? 'An' : 'No'} event ${type} was accepted in the last ${period}.` };
  }
  if (age === Infinity) return { compliant, reason: `No event ${type} has been accepted.` };
  const relation = compliant ? 'within' : 'longer than';
  return { compliant, reason: `The last event ${type} was accepted ${durationText(age)} ago, ${relation} ${period}.` };
}
