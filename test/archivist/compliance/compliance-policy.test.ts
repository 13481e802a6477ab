import { describe, expect, it } from 'vitest';
import {
  COMPLIANCE_TYPES,
  compliancePolicySchema,
  MAX_SECONDS,
} from '../../../src/archivist/compliance/compliance-policy.js';
import { timePeriodMs } from '../../../src/archivist/compliance/time-period.js';
import { policy, policyBody } from './compliance-samples.js';

function complaint(body: unknown): string {
  const { error } = compliancePolicySchema.safeParse(body);
  const issue = error!.issues[0]!;
  return `${issue.path.join('.')}: ${issue.message}`;
}

describe('a compliance policy', () => {
  it('is complete, with what is unset as stock clients expect it', () => {
    expect(policy('COMPLIANCE_SINCE')).toEqual({
      compliance_type: 'COMPLIANCE_SINCE',
      display_name: 'a policy',
      description: '',
      asset_filter: [{ or: ['attributes.arc_display_type=Traffic Light'] }],
      event_display_type: 'open',
      closing_event_display_type: '',
      time_period_seconds: '60',
      dynamic_window: '0',
      dynamic_variability: 0,
      richness_assertions: [],
    });
  });

  it.each(COMPLIANCE_TYPES)('of %s survives being read again', (type) => {
    expect(compliancePolicySchema.parse(policy(type))).toEqual(policy(type));
  });

  it.each([
    ['COMPLIANCE_SINCE', 'event_display_type'],
    ['COMPLIANCE_SINCE', 'time_period_seconds'],
    ['COMPLIANCE_CURRENT_OUTSTANDING', 'event_display_type'],
    ['COMPLIANCE_CURRENT_OUTSTANDING', 'closing_event_display_type'],
    ['COMPLIANCE_PERIOD_OUTSTANDING', 'event_display_type'],
    ['COMPLIANCE_PERIOD_OUTSTANDING', 'closing_event_display_type'],
    ['COMPLIANCE_PERIOD_OUTSTANDING', 'time_period_seconds'],
    ['COMPLIANCE_DYNAMIC_TOLERANCE', 'event_display_type'],
    ['COMPLIANCE_DYNAMIC_TOLERANCE', 'closing_event_display_type'],
    ['COMPLIANCE_DYNAMIC_TOLERANCE', 'dynamic_window'],
    ['COMPLIANCE_DYNAMIC_TOLERANCE', 'dynamic_variability'],
    ['COMPLIANCE_RICHNESS', 'richness_assertions'],
  ])('of %s needs %s, absent, null and empty alike', (type, field) => {
    const empty = { richness_assertions: [], dynamic_variability: 0, time_period_seconds: 0, dynamic_window: '0' };
    for (const unset of [undefined, null, (empty as Record<string, unknown>)[field] ?? '']) {
      expect(complaint(policyBody(type, { [field]: unset }))).toBe(`${field}: is required for ${type}`);
    }
  });

  it('takes an empty text for a number of seconds as unset: typed clients send every member', () => {
    const unset = { time_period_seconds: '', dynamic_window: '' };
    expect(policy('COMPLIANCE_RICHNESS', unset)).toEqual(policy('COMPLIANCE_RICHNESS'));
    expect(complaint(policyBody('COMPLIANCE_SINCE', unset))).toBe(
      'time_period_seconds: is required for COMPLIANCE_SINCE',
    );
  });

  it.each(['display_name', 'compliance_type', 'asset_filter'])('needs %s', (field) => {
    expect(complaint(policyBody('COMPLIANCE_SINCE', { [field]: undefined }))).toMatch(new RegExp(`^${field}: `));
  });

  it.each([
    [60, '60'],
    ['60', '60'],
    ['0060', '60'],
    [MAX_SECONDS, String(MAX_SECONDS)],
  ])('reads %j seconds as %s', (given, text) => {
    const read = policy('COMPLIANCE_SINCE', { time_period_seconds: given });
    expect(read.time_period_seconds).toBe(text);
    expect(timePeriodMs(read)).toBe(Number(text) * 1000);
  });

  it.each([-1, 1.5, '1.5', '1e3', ' 60', 'soon', ' ', true, MAX_SECONDS + 1, '9223372036854775808', Number.NaN])(
    'refuses %j seconds',
    (given) => {
      expect(complaint(policyBody('COMPLIANCE_SINCE', { time_period_seconds: given }))).toMatch(
        /^time_period_seconds: must be a (whole )?number of seconds/,
      );
    },
  );

  it.each([
    [0.5, 0.5],
    ['0.5', 0.5],
    [1e-7, 1e-7],
    ['3', 3],
  ])('reads a variability of %j', (given, value) => {
    expect(policy('COMPLIANCE_DYNAMIC_TOLERANCE', { dynamic_variability: given }).dynamic_variability).toBe(value);
  });

  it.each([-0.5, '-0.5', 'wide', '', 1e300, Number.POSITIVE_INFINITY, [], {}])(
    'refuses a variability of %j',
    (given) => {
      expect(complaint(policyBody('COMPLIANCE_DYNAMIC_TOLERANCE', { dynamic_variability: given }))).toMatch(
        /^dynamic_variability: must be a number/,
      );
    },
  );

  it('names the entry and the character of a filter or an assertion that cannot be read', () => {
    const asset_filter = [{ or: ['attributes.a:b'] }, { or: ['attributes.a=b', 'a=b'] }];
    expect(complaint(policyBody('COMPLIANCE_SINCE', { asset_filter }))).toBe(
      'asset_filter.1.or.1: expected attributes.<name> at character 2',
    );
    const richness_assertions = [{ or: ['rad<7', 'rad'] }];
    expect(complaint(policyBody('COMPLIANCE_RICHNESS', { richness_assertions }))).toBe(
      'richness_assertions.0.or.1: expected one of = != > < >= <= at character 4',
    );
  });

  it.each<[string, Record<string, unknown>]>([
    ['compliance_type', { compliance_type: 'COMPLIANCE_TYPE_UNDEFINED' }],
    ['display_name', { display_name: 'x'.repeat(1025) }],
    ['display_name', { display_name: '' }],
    ['description', { description: 'x'.repeat(4097) }],
    ['description', { description: '\0' }],
    ['asset_filter', { asset_filter: [{ or: [] }] }],
    ['asset_filter', { asset_filter: [['attributes.a=b']] }],
    ['asset_filter', { asset_filter: new Array(129).fill({ or: ['attributes.a=b'] }) }],
    ['event_display_type', { event_display_type: 7 }],
    ['closing_event_display_type', { closing_event_display_type: 'open' }],
  ])('refuses an unusable %s', (field, given) => {
    expect(complaint(policyBody('COMPLIANCE_PERIOD_OUTSTANDING', given))).toMatch(new RegExp(`^${field}\\b`));
  });
});
