import type { ComplianceInput, Verdict } from './compliance-check.js';
import type { CompliancePolicy } from './compliance-policy.js';
import { checkCurrentOutstanding } from './current-outstanding.js';
import { checkDynamicTolerance } from './dynamic-tolerance.js';
import { checkPeriodOutstanding } from './period-outstanding.js';
import { checkRichness } from './richness.js';
import { checkSince } from './since.js';

/** Checks one policy of any type. The caller has already checked that its `asset_filter` matches the asset. */
export function checkPolicy(policy: CompliancePolicy, input: ComplianceInput): Verdict {
  switch (policy.compliance_type) {
    case 'COMPLIANCE_SINCE':
      return checkSince(policy, input);
    case 'COMPLIANCE_CURRENT_OUTSTANDING':
      return checkCurrentOutstanding(policy, input);
    case 'COMPLIANCE_PERIOD_OUTSTANDING':
      return checkPeriodOutstanding(policy, input);
    case 'COMPLIANCE_DYNAMIC_TOLERANCE':
      return checkDynamicTolerance(policy, input);
    case 'COMPLIANCE_RICHNESS':
      return checkRichness(policy, input);
  }
}
