import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareCodePoints } from '../../src/filter/code-points.js';
import { FilterError } from '../../src/filter/filter-error.js';
import {
  MAX_SEARCH_DEPTH,
  MAX_SEARCH_LENGTH,
  MAX_SEARCH_NODES,
  parseSearchFilter,
  type SearchFilter,
} from '../../src/filter/odata.js';
import { matchesSearchFilter, type SearchedEvent } from '../../src/filter/odata-matches.js';

type Comparison = Extract<SearchFilter, { kind: 'compare' }>;

function compare(
  property: Comparison['property'],
  operator: Comparison['operator'],
  value: Comparison['value'],
): SearchFilter {
  return { kind: 'compare', property, operator, value };
}

const A = compare('event_type', 'eq', 'a');
const B = compare('event_type', 'eq', 'b');
const C = compare('event_type', 'eq', 'c');
const EVENT: SearchedEvent = {
  trails: ['boo', "it's"],
  event_type: 'consent',
  origin_tenant: 'tenant/1',
  created_by: 'members/2',
  created_at: 1_730_283_341_000n,
};
const LOGGED: SearchedEvent = {
  ...EVENT,
  ledger_entry: { index: 7n, idtimestamp: '01937a', content_hash: 'ff' },
};

function refusal(text: string): { position: number; reason: string } {
  try {
    parseSearchFilter(text);
  } catch (error) {
    if (error instanceof FilterError) return { position: error.position, reason: error.reason };
    throw error;
  }
  throw new Error('was accepted');
}

describe('a search filter', () => {
  it.each<[string, SearchFilter]>([
    ["event_type eq 'a'", A],
    ["event_type ne 'a'", compare('event_type', 'ne', 'a')],
    ["  event_type\teq\n'a' ", A],
    ["event_type eq 'it''s'", compare('event_type', 'eq', "it's")],
    ["event_type eq ''", compare('event_type', 'eq', '')],
    ["event_type eq ''''", compare('event_type', 'eq', "'")],
    ["origin_tenant eq 'tenant/x'", compare('origin_tenant', 'eq', 'tenant/x')],
    ["created_by eq 'members/x'", compare('created_by', 'eq', 'members/x')],
    ['created_at gt 1730283341000', compare('created_at', 'gt', 1730283341000n)],
    ["created_at gt '1730283341000'", compare('created_at', 'gt', 1730283341000n)],
    ['created_at ge 2026-01-31T12:00:00Z', compare('created_at', 'ge', BigInt(Date.UTC(2026, 0, 31, 12)))],
    [
      "created_at lt '2026-01-31T12:00:00.123456+01:00'",
      compare('created_at', 'lt', BigInt(Date.UTC(2026, 0, 31, 11, 0, 0, 123))),
    ],
    ['created_at le -1', compare('created_at', 'le', -1n)],
    ['ledger_entry/index ge 3', compare('ledger_entry/index', 'ge', 3n)],
    ["ledger_entry/index eq '9223372036854775807'", compare('ledger_entry/index', 'eq', 2n ** 63n - 1n)],
    ["ledger_entry/idtimestamp gt '01937a'", compare('ledger_entry/idtimestamp', 'gt', '01937a')],
    ["ledger_entry/content_hash eq 'ff'", compare('ledger_entry/content_hash', 'eq', 'ff')],
    ["trails/any(t: t eq 'boo')", { kind: 'anyTrail', part: compare('trail', 'eq', 'boo') }],
    ["trails/any(trail:trail eq 'boo')", { kind: 'anyTrail', part: compare('trail', 'eq', 'boo') }],
    [
      "trails/any(t: t eq 'a' or t eq 'b')",
      { kind: 'anyTrail', part: { kind: 'or', parts: [compare('trail', 'eq', 'a'), compare('trail', 'eq', 'b')] } },
    ],
    [
      "event_type eq 'a' or event_type eq 'b' and event_type eq 'c'",
      { kind: 'or', parts: [A, { kind: 'and', parts: [B, C] }] },
    ],
    [
      "(event_type eq 'a' or event_type eq 'b') and event_type eq 'c'",
      { kind: 'and', parts: [{ kind: 'or', parts: [A, B] }, C] },
    ],
    ["not event_type eq 'a' and event_type eq 'b'", { kind: 'and', parts: [{ kind: 'not', part: A }, B] }],
    ["not(event_type eq 'a' and event_type eq 'b')", { kind: 'not', part: { kind: 'and', parts: [A, B] } }],
    ["not not event_type eq 'a'", { kind: 'not', part: { kind: 'not', part: A } }],
    ["((event_type eq 'a'))", A],
  ])('%s is understood', (text, tree) => {
    expect(parseSearchFilter(text)).toEqual(tree);
  });

  it.each<[string, number, RegExp]>([
    ['', 0, /expected a condition/],
    ['   ', 3, /expected a condition/],
    ["colour eq 'red'", 0, /no such property; expected trails\/any or one of event_type, .*content_hash/],
    ["__proto__ eq 'red'", 0, /no such property/],
    ["ledger_entry eq 'red'", 0, /no such property/],
    ["trails eq 'a'", 0, /trails is a list/],
    ["event_type is 'a'", 11, /expected one of eq/],
    ["event_type EQ 'a'", 11, /expected one of eq/],
    ['event_type', 10, /expected one of eq/],
    ['event_type eq', 13, /text in single quotes/],
    ['event_type eq a', 14, /text in single quotes/],
    ['event_type eq "a"', 14, /text in single quotes/],
    ["event_type eq 'a", 14, /no closing quote/],
    ["event_type eq 'a''b", 14, /no closing quote/],
    ["event_type eq 'a' event_type eq 'b'", 18, /expected "and", "or" or the end/],
    ["event_type eq 'a' and", 21, /expected a condition/],
    ["event_type eq 'a' and and", 22, /no such property/],
    ["(event_type eq 'a'", 18, /expected \)/],
    ["event_type eq 'a')", 17, /expected "and", "or" or the end/],
    ["'a' eq event_type", 0, /expected a condition/],
    ["trails/any t eq 'a'", 11, /expected \(/],
    ["trails/any(t t eq 'a')", 13, /expected :/],
    ["trails/any(: t eq 'a')", 11, /name of a variable/],
    ["trails/any(a/b: t eq 'a')", 11, /name of a variable/],
    ["trails/any(t: u eq 'a')", 14, /expected t: inside any\(…\) it is the only name/],
    ["trails/any(t: event_type eq 'a')", 14, /expected t: inside any\(…\) it is the only name/],
    ["trails/any(t: trails/any(u: u eq 'a'))", 14, /expected t: inside any\(…\) it is the only name/],
    ["t eq 'a'", 0, /no such property/],
    ['ledger_entry/index eq 1.5', 22, /expected an integer/],
    ['ledger_entry/index eq 9223372036854775808', 22, /64 bits/],
    ['ledger_entry/index eq 2026-01-31T12:00:00Z', 22, /expected an integer/],
    ['created_at eq yesterday', 14, /Unix milliseconds or a time/],
    ['created_at eq 2026-02-30T12:00:00Z', 14, /Unix milliseconds or a time/],
    ['created_at eq 2026-02-10T12:00:61Z', 14, /Unix milliseconds or a time/],
    ['created_at eq 2026-02-10T12:00:00', 14, /Unix milliseconds or a time/],
    ['created_at eq (1)', 14, /expected a value/],
    ["event_type eq 'a\0'", 16, /U\+0000/],
    ["event_type eq '\udc00'", 15, /lone surrogates/],
  ])('%j is refused at character %i', (text, position, reason) => {
    const found = refusal(text);
    expect(found.reason).toMatch(reason);
    expect(found.position).toBe(position);
  });

  it('names its field and counts from 1 for a person', () => {
    expect(() => parseSearchFilter('event_type eq')).toThrow(
      'filter: expected a text in single quotes at character 14',
    );
  });

  it('has caps on length, depth and size that a filter at the cap still meets', () => {
    const padded = `event_type eq 'a'`.padEnd(MAX_SEARCH_LENGTH);
    expect(parseSearchFilter(padded)).toEqual(A);
    expect(refusal(`${padded} `).position).toBe(MAX_SEARCH_LENGTH);

    const nested = (levels: number) => `${'('.repeat(levels)}event_type eq 'a'${')'.repeat(levels)}`;
    expect(parseSearchFilter(nested(MAX_SEARCH_DEPTH))).toEqual(A);
    expect(refusal(nested(MAX_SEARCH_DEPTH + 1)).reason).toMatch(/levels/);
    expect(refusal(`${'not '.repeat(2000)}event_type eq 'a'`).reason).toMatch(/levels/);

    const chain = (parts: number) => new Array(parts).fill("event_type eq 'a'").join(' or ');
    // The comparisons, the words between them, and one `not`.
    expect(parseSearchFilter(`not ${chain(MAX_SEARCH_NODES / 2)}`).kind).toBe('or');
    expect(refusal(chain(MAX_SEARCH_NODES / 2 + 1)).reason).toMatch(/256/);
  });

  it('never fails with anything but its own error', () => {
    const pieces = [
      'event_type',
      'created_at',
      'trails/any',
      't',
      'eq',
      'not',
      'and',
      'or',
      "'a'",
      "'",
      '(',
      ')',
      ':',
      ' ',
      '1',
      '2026-01-31T12:00:00Z',
      '\0',
      '\ud800',
      '/',
      '-',
    ];
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join(' ')),
      fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (filter) => {
        try {
          parseSearchFilter(filter);
        } catch (error) {
          expect(error).toBeInstanceOf(FilterError);
          expect((error as FilterError).position).toBeLessThanOrEqual(filter.length);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('searching', () => {
  it.each<[string, boolean]>([
    ["event_type eq 'consent'", true],
    ["event_type eq 'Consent'", false],
    ["event_type gt 'b'", true],
    ["trails/any(t: t eq 'boo')", true],
    ["trails/any(t: t eq 'it''s')", true],
    ["trails/any(t: t eq 'bar')", false],
    ["trails/any(t: t eq 'boo' and t eq 'it''s')", false],
    ["not trails/any(t: t eq 'bar')", true],
    ['created_at eq 1730283341000', true],
    ["created_at ge '2024-10-30T10:15:41Z'", true],
    ["created_at gt '2024-10-30T10:15:41Z'", false],
    ['ledger_entry/index ge 7 and ledger_entry/index lt 8', true],
    ["ledger_entry/idtimestamp le '01937a'", true],
  ])('%s is %s', (text, passes) => {
    expect(matchesSearchFilter(parseSearchFilter(text), LOGGED)).toBe(passes);
  });

  it.each<[string, boolean]>([
    ['ledger_entry/index ge 0', false],
    ['ledger_entry/index lt 0', false],
    ['ledger_entry/index eq 0', false],
    ['ledger_entry/index ne 0', true],
    ['not ledger_entry/index ge 0', true],
    ["not ledger_entry/content_hash eq 'ff'", true],
  ])('of an event that no log has yet, %s is %s', (text, passes) => {
    expect(matchesSearchFilter(parseSearchFilter(text), EVENT)).toBe(passes);
  });

  it('orders texts by code point', () => {
    const texts = ['', 'a', 'ab', 'b', 'é', '\ue000', '\uffff', '\u{10000}', '\u{10400}'];
    const shuffled = [...texts].reverse().sort(compareCodePoints);
    expect(shuffled).toEqual(texts);
  });
});
