import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPolicy } from '../../../src/archivist/compliance/check-policy.js';
import { COMPLIANCE_TYPES } from '../../../src/archivist/compliance/compliance-policy.js';
import { nextChange } from '../../../src/archivist/compliance/next-change.js';
import { input, NOW, policy } from './compliance-samples.js';

const SECOND = 1000;
const next = (type: string, ...texts: string[]) => {
  const at = nextChange(policy(type), input(...texts));
  return at === undefined ? undefined : at - NOW * SECOND;
};

describe('when time alone may change a verdict', () => {
  it('is a millisecond after the period of the last event, of the oldest one that waits, and of a pair’s window', () => {
    expect(next('COMPLIANCE_SINCE', 'open@-100', 'open@-10')).toBe(50 * SECOND + 1);
    expect(next('COMPLIANCE_SINCE', 'open@-100')).toBeUndefined();
    expect(next('COMPLIANCE_PERIOD_OUTSTANDING', 'open:a@-10', 'open:b@-20', 'close:b@-5')).toBe(50 * SECOND + 1);
    expect(next('COMPLIANCE_DYNAMIC_TOLERANCE', 'open:a@-999', 'close:a@-900')).toBe(100 * SECOND + 1);
    expect(next('COMPLIANCE_CURRENT_OUTSTANDING', 'open:a@-10')).toBeUndefined();
    expect(next('COMPLIANCE_RICHNESS', 'open:a@-10')).toBeUndefined();
  });

  it('is the time of an event from a clock that ran ahead', () => {
    expect(next('COMPLIANCE_CURRENT_OUTSTANDING', 'open:a@7', 'other@3')).toBe(7 * SECOND);
  });

  it('comes no later than any change', () => {
    const event = fc
      .tuple(fc.constantFrom('open', 'close'), fc.constantFrom(':a', ':b', ''), fc.integer({ min: -1500, max: 300 }))
      .map(([type, value, at]) => `${type}${value}@${at / 10}`);
    const window = { dynamic_window: 40, dynamic_variability: 0.5 };
    fc.assert(
      fc.property(
        fc.constantFrom(...COMPLIANCE_TYPES),
        fc.array(event, { maxLength: 12 }),
        fc.integer({ min: 1, max: 200 * SECOND }),
        (type, texts, later) => {
          const given = type === 'COMPLIANCE_DYNAMIC_TOLERANCE' ? window : {};
          const checked = policy(type, given);
          const now = input(...texts);
          const change = nextChange(checked, now) ?? Number.POSITIVE_INFINITY;
          const then = Math.min(now.compliantAtMs + later, change - 1);
          const verdict = (compliantAtMs: number) => checkPolicy(checked, { ...now, compliantAtMs }).compliant;
          expect(verdict(then)).toBe(verdict(now.compliantAtMs));
          expect(change).toBeGreaterThan(now.compliantAtMs);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
