import { type ComplianceInput, durationText, quoted, type Verdict } from './compliance-check.js';
import type { CompliancePolicy } from './compliance-policy.js';
import { pairEvents } from './pairing.js';

/**
 * COMPLIANCE_DYNAMIC_TOLERANCE: passes when no pair that closed in the last `dynamic_window` seconds (inclusive) is
 * more than `dynamic_variability` population standard deviations from their mean, in either direction
 * (docs/design/interface.md#compliance). Passes with no pair and with one pair.
 */
export function checkDynamicTolerance(policy: CompliancePolicy, input: ComplianceInput): Verdict {
  const windowMs = Number(policy.dynamic_window) * 1000;
  const durations = pairEvents(policy, input)
    .closed.filter(({ closing }) => closing.acceptedAtMs >= input.compliantAtMs - windowMs)
    .map(({ durationMs }) => durationMs);
  const pair = `from ${quoted(policy.event_display_type)} to ${quoted(policy.closing_event_display_type)}`;
  const deviations = policy.dynamic_variability === 1 ? 'deviation' : 'deviations';
  const bound = `${policy.dynamic_variability} standard ${deviations}`;
  const window = `in the last ${durationText(windowMs)}`;
  const longest = durations.reduce((most, one) => Math.max(most, one), 0);
  const shortest = durations.reduce((least, one) => Math.min(least, one), longest);
  const compliant = ![shortest, longest].some((one) => deviates(one, durations, policy.dynamic_variability));
  const verdict = `${compliant ? 'No' : 'A'} pair ${pair} closed ${window} took a time more than ${bound} from the mean`;
  if (!input.readable) return { compliant, reason: `${verdict}.` };
  const pairs = durations.length === 1 ? '1 pair' : `${durations.length} pairs`;
  const detail = durations.length === 0 ? pairs : `${pairs}, ${durationText(shortest)} to ${durationText(longest)}`;
  return { compliant, reason: `${verdict} (${detail}).` };
}

/**
 * `|duration − mean| > variability · σ`, both sides multiplied by the number of durations. Sums are exact integers, so
 * equal durations have no deviation and a duration exactly on the bound is within it.
 */
function deviates(durationMs: number, durations: readonly number[], variability: number): boolean {
  const count = BigInt(durations.length);
  let sum = 0n;
  let squares = 0n;
  for (const each of durations.map(BigInt)) {
    sum += each;
    squares += each * each;
  }
  const fromMean = Number(count * BigInt(durationMs) - sum);
  return Math.abs(fromMean) > variability * Math.sqrt(Number(count * squares - sum * sum));
}
