import type { ComplianceEvent, ComplianceInput } from '../../../src/archivist/compliance/compliance-check.js';
import { type CompliancePolicy, compliancePolicySchema } from '../../../src/archivist/compliance/compliance-policy.js';

/** When every table checks, in seconds. */
export const NOW = 1_000_000;

const NEEDED: Readonly<Record<string, Record<string, unknown>>> = {
  COMPLIANCE_SINCE: { event_display_type: 'open', time_period_seconds: 60 },
  COMPLIANCE_CURRENT_OUTSTANDING: { event_display_type: 'open', closing_event_display_type: 'close' },
  COMPLIANCE_PERIOD_OUTSTANDING: {
    event_display_type: 'open',
    closing_event_display_type: 'close',
    time_period_seconds: 60,
  },
  COMPLIANCE_DYNAMIC_TOLERANCE: {
    event_display_type: 'open',
    closing_event_display_type: 'close',
    dynamic_window: 1000,
    dynamic_variability: 1,
  },
  COMPLIANCE_RICHNESS: { richness_assertions: [{ or: ['rad<7'] }] },
};

/** A create body of this type with everything that it needs. */
export function policyBody(type: string, given: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    compliance_type: type,
    display_name: 'a policy',
    asset_filter: [{ or: ['attributes.arc_display_type=Traffic Light'] }],
    ...NEEDED[type],
    ...given,
  };
}

export function policy(type: string, given: Record<string, unknown> = {}): CompliancePolicy {
  return compliancePolicySchema.parse(policyBody(type, given));
}

/** `open@-10` and `close:v@-5.5`: display type, correlation value, seconds from NOW. */
export function events(...texts: string[]): ComplianceEvent[] {
  return texts.map((text) => {
    const [, displayType, correlationValue, at] = /^(\w+)(?::(\w+))?@(.+)$/.exec(text)!;
    return { displayType, correlationValue, acceptedAtMs: (NOW + Number(at)) * 1000 };
  });
}

/** An input at NOW whose caller may read everything. */
export function input(...texts: string[]): ComplianceInput {
  return { events: events(...texts), assetAttributes: {}, compliantAtMs: NOW * 1000, readable: true };
}
