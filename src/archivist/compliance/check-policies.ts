import { inPieces } from '../../platform/in-pieces.js';
import { checkPolicy } from './check-policy.js';
import type { ComplianceInput, Verdict } from './compliance-check.js';
import type { StoredPolicy } from './compliance-policy-store.js';

/**
 * Checks the policies that apply to an asset, in their order. One check reads all events of the asset, so other requests
 * are served between two.
 */
export function checkPolicies(policies: readonly StoredPolicy[], input: ComplianceInput): Promise<Verdict[]> {
  return inPieces(policies, ({ policy }) => checkPolicy(policy, input));
}
