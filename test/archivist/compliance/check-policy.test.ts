import { describe, expect, it } from 'vitest';
import { checkPolicy } from '../../../src/archivist/compliance/check-policy.js';
import { COMPLIANCE_TYPES } from '../../../src/archivist/compliance/compliance-policy.js';
import { input, policy } from './compliance-samples.js';

type Case = [rule: string, compliant: boolean, texts: string[], given?: Record<string, unknown>];

function holdsTable(type: string, cases: Case[]): void {
  it.each(cases)('%s: %s', (_rule, compliant, texts, given) => {
    expect(checkPolicy(policy(type, given), input(...texts)).compliant).toBe(compliant);
  });
}

describe('SINCE', () => {
  holdsTable('COMPLIANCE_SINCE', [
    ['no event', false, []],
    ['one event within the period', true, ['open@-59']],
    ['one event as old as the period', true, ['open@-60']],
    ['one event a millisecond older', false, ['open@-60.001']],
    ['the last of several counts, in any order', true, ['open@-10', 'open@-900']],
    ['an event of this moment', true, ['open@0']],
    ['an event after the moment is ignored', false, ['open@0.001']],
    ['an event after the moment hides none before', true, ['open@-30', 'open@5']],
    ['another type does not count', false, ['close@-10']],
    ['the period may be sent as text', true, ['open@-60'], { time_period_seconds: '60' }],
    ['the period sent as text is a number', false, ['open@-60'], { time_period_seconds: '9' }],
  ]);

  it('says when the last event was', () => {
    expect(checkPolicy(policy('COMPLIANCE_SINCE'), input('open@-60.5')).reason).toBe(
      'The last event "open" was accepted 1 minute 0.5 seconds ago, longer than 1 minute.',
    );
    expect(checkPolicy(policy('COMPLIANCE_SINCE'), input()).reason).toBe('No event "open" has been accepted.');
  });
});

describe('CURRENT_OUTSTANDING', () => {
  holdsTable('COMPLIANCE_CURRENT_OUTSTANDING', [
    ['no event', true, []],
    ['one event that waits', false, ['open:a@-1']],
    ['one pair', true, ['open:a@-9', 'close:a@-1']],
    ['both in one millisecond', true, ['close:a@-1', 'open:a@-1']],
    ['a closing alone', true, ['close:a@-1']],
    ['the value of another pair', false, ['open:a@-9', 'close:b@-1']],
    ['no correlation value', false, ['open@-9', 'close@-1']],
    ['a value reused and closed', true, ['open:a@-9', 'close:a@-8', 'open:a@-7', 'close:a@-6']],
    ['a value reused and not closed', false, ['open:a@-9', 'close:a@-8', 'open:a@-7']],
    ['closed only after the moment', false, ['open:a@-9', 'close:a@1']],
    ['opened only after the moment', true, ['open:a@1']],
  ]);

  it('says how many wait, and which is the oldest', () => {
    expect(checkPolicy(policy('COMPLIANCE_CURRENT_OUTSTANDING'), input('open:b@-8', 'open:a@-9')).reason).toBe(
      'Not every event "open" has its event "close"; still waiting: 2 events, the oldest with the correlation value "a".',
    );
  });
});

describe('PERIOD_OUTSTANDING', () => {
  holdsTable('COMPLIANCE_PERIOD_OUTSTANDING', [
    ['no event', true, []],
    ['a pair as long as the period', true, ['open:a@-900', 'close:a@-840']],
    ['a pair a millisecond longer', false, ['open:a@-900', 'close:a@-839.999']],
    ['a pair of no time', true, ['open:a@-900', 'close:a@-900']],
    ['one long pair among short ones', false, ['open:a@-99', 'close:a@-98', 'open:b@-99', 'close:b@-9']],
    ['one that waits within the period', true, ['open:a@-60']],
    ['one that has waited too long', false, ['open:a@-60.001']],
    ['a closing alone', true, ['close:a@-900']],
    ['a value reused counts each pair by itself', true, ['open:a@-900', 'close:a@-890', 'open:a@-90', 'close:a@-40']],
    ['closed too late, after the moment', true, ['open:a@-30', 'close:a@900']],
  ]);

  it('says what took too long', () => {
    const { reason } = checkPolicy(policy('COMPLIANCE_PERIOD_OUTSTANDING'), input('open:a@-900', 'close:a@-800'));
    expect(reason).toBe(
      'An event "open" waited longer than 1 minute for its event "close"; the longest 1 minute 40 seconds.',
    );
  });
});

describe('DYNAMIC_TOLERANCE', () => {
  const pair = (value: string, start: number, seconds: number) => [
    `open:${value}@${start}`,
    `close:${value}@${start + seconds}`,
  ];
  // Durations 10, 10, 10, 10, 60: mean 20, population σ 20, the longest exactly 2σ above the mean.
  const outlier = [10, 10, 10, 10, 60].flatMap((seconds, index) => pair(`v${index}`, -500 + index, seconds));
  const short = [60, 60, 60, 60, 10].flatMap((seconds, index) => pair(`v${index}`, -500 + index, seconds));

  holdsTable('COMPLIANCE_DYNAMIC_TOLERANCE', [
    ['no event', true, []],
    ['one pair has no deviation', true, pair('a', -90, 30)],
    [
      'equal durations have none',
      true,
      [...pair('a', -90, 33.333), ...pair('b', -80, 33.333), ...pair('c', -70, 33.333)],
    ],
    ['two pairs lie one σ from the mean', true, [...pair('a', -90, 10), ...pair('b', -80, 30)]],
    ['two pairs exceed half a σ', false, [...pair('a', -90, 10), ...pair('b', -80, 30)], { dynamic_variability: 0.5 }],
    ['on the bound', true, outlier, { dynamic_variability: 2 }],
    ['above the bound', false, outlier, { dynamic_variability: 1.999 }],
    ['the sample σ would be wider', false, outlier, { dynamic_variability: '1.99' }],
    ['unusually short', false, short, { dynamic_variability: 1.999 }],
    ['short, on the bound', true, short, { dynamic_variability: 2 }],
    ['pairs closed before the window do not count', true, [...pair('a', -2000, 900), ...pair('b', -90, 5)]],
    [
      'a pair opened before the window, closed on its edge',
      false,
      [...pair('a', -1900, 900), ...pair('b', -90, 5)],
      { dynamic_variability: 0.9 },
    ],
    [
      'a pair closed a millisecond earlier',
      true,
      [...pair('a', -1900.001, 900), ...pair('b', -90, 5)],
      { dynamic_variability: 0.9 },
    ],
    ['events that wait do not count', true, [...pair('a', -90, 10), 'open:b@-900']],
    [
      'a pair closed after the moment does not count',
      true,
      [...pair('a', -90, 10), ...pair('b', -80, 900)],
      { dynamic_variability: 0.1 },
    ],
    ['the window may be sent as text', true, pair('a', -90, 30), { dynamic_window: '1000' }],
  ]);

  it('says how many pairs it saw', () => {
    const { reason } = checkPolicy(policy('COMPLIANCE_DYNAMIC_TOLERANCE'), input(...outlier));
    expect(reason).toBe(
      'A pair from "open" to "close" closed in the last 16 minutes 40 seconds took a time more than 1 standard deviation from the mean (5 pairs, 10 seconds to 1 minute).',
    );
  });
});

describe('reasons', () => {
  it.each(COMPLIANCE_TYPES)('of %s hold only the words of the policy for a caller who may not read all', (type) => {
    const secret = 'zebra42';
    const all = { ...input(`open:${secret}@-777.5`, `close:${secret}@-333.25`, `open:${secret}@-222.5`) };
    for (const rad of [secret, '5', undefined]) {
      const given = { ...all, assetAttributes: { rad }, readable: false };
      const { reason } = checkPolicy(policy(type), given);
      expect(reason).not.toMatch(/zebra42|777|333|222|444|\b[23] pairs|no attribute/);
      expect(checkPolicy(policy(type), { ...given, readable: true }).compliant).toBe(
        checkPolicy(policy(type), given).compliant,
      );
    }
  });

  it.each(COMPLIANCE_TYPES)('of %s stay within the interface limit, whatever the names', (type) => {
    const long = '\u{1f600}'.repeat(512);
    const given = {
      ...(type === 'COMPLIANCE_RICHNESS' ? {} : { event_display_type: long }),
      ...(['COMPLIANCE_RICHNESS', 'COMPLIANCE_SINCE'].includes(type)
        ? {}
        : { closing_event_display_type: `x${long}`.slice(0, 1023) }),
      richness_assertions: [{ or: [`${long}!=${long}`] }],
    };
    const event = { displayType: long, correlationValue: long.repeat(4), acceptedAtMs: 0 };
    const { reason } = checkPolicy(policy(type, given), {
      ...input(),
      events: [event],
      assetAttributes: { [long]: long },
    });
    expect(reason.length).toBeLessThanOrEqual(1024);
    expect(reason).toMatch(/…/);
  });
});
