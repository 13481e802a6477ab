import { type ComplianceInput, quoted, type Verdict } from './compliance-check.js';
import type { CompliancePolicy } from './compliance-policy.js';
import { outstandingText } from './outstanding-text.js';
import { pairEvents } from './pairing.js';

/** COMPLIANCE_CURRENT_OUTSTANDING: passes when every event of the type has its closing event. */
export function checkCurrentOutstanding(policy: CompliancePolicy, input: ComplianceInput): Verdict {
  const { outstanding } = pairEvents(policy, input);
  const opening = quoted(policy.event_display_type);
  const closing = quoted(policy.closing_event_display_type);
  if (outstanding.length === 0) {
    return { compliant: true, reason: `No event ${opening} is waiting for an event ${closing}.` };
  }
  const detail = input.readable ? `; still waiting: ${outstandingText(outstanding)}` : '';
  return { compliant: false, reason: `Not every event ${opening} has its event ${closing}${detail}.` };
}
