import type { CompliancePolicy } from './compliance-policy.js';

/** `time_period_seconds` in milliseconds. */
export function timePeriodMs(policy: Pick<CompliancePolicy, 'time_period_seconds'>): number {
  return Number(policy.time_period_seconds) * 1000;
}
