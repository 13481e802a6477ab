import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AttributeTest,
  MAX_ATTRIBUTE_DEPTH,
  MAX_ATTRIBUTE_NAME,
  MAX_ATTRIBUTE_TESTS,
  MAX_ATTRIBUTE_VALUE,
  parseAttributeEntry,
  parseAttributeParameter,
  parsePolicyFilter,
} from '../../src/filter/attribute-filter.js';
import { FilterError } from '../../src/filter/filter-error.js';
import { findAttribute, matchesAttributeFilter, matchesAttributeTest } from '../../src/filter/matches.js';

const LIST = { field: 'query', prefix: 'attributes.' };
const POLICY = { field: 'filters', prefix: 'attributes.' };

function equals(name: string, value: string, negated = false): AttributeTest {
  return { kind: 'equals', name, value, negated };
}

function filled(name: string, negated = false): AttributeTest {
  return { kind: 'filled', name, negated };
}

function refusal(read: () => unknown): Pick<FilterError, 'field' | 'position' | 'reason'> {
  try {
    read();
  } catch (error) {
    if (error instanceof FilterError) return { field: error.field, position: error.position, reason: error.reason };
    throw error;
  }
  throw new Error('was accepted');
}

describe('an attribute filter entry', () => {
  it.each<[string, AttributeTest]>([
    ['attributes.a=b', equals('a', 'b')],
    ['attributes.a=', equals('a', '')],
    ['attributes.a!=b', equals('a', 'b', true)],
    ['attributes.a=*', filled('a')],
    ['attributes.a!=*', filled('a', true)],
    ['attributes.a=**', equals('a', '**')],
    ['attributes.a.b=c', equals('a.b', 'c')],
    ['attributes.a=b=c', equals('a', 'b=c')],
    ['attributes.a=!=b', equals('a', '!=b')],
    ['attributes.a!!=b', equals('a!', 'b', true)],
    ['attributes.a!b=c', equals('a!b', 'c')],
    ['attributes.dc:title=x', equals('dc:title', 'x')],
    ['attributes.subject=vcon://0195', equals('subject', 'vcon://0195')],
    ['attributes. a =\tb', equals(' a ', '\tb')],
  ])('%s is read letter by letter', (entry, test) => {
    expect(parseAttributeEntry(entry, LIST)).toEqual(test);
  });

  it.each<[string, number, string]>([
    ['', 0, 'expected attributes.<name>'],
    ['location=basingstoke', 0, 'expected attributes.<name>'],
    ['attribute.a=b', 9, 'expected attributes.<name>'],
    ['attributes.', 11, 'expected = or != and a value'],
    ['attributes.a', 12, 'expected = or != and a value'],
    ['attributes.a:b', 14, 'expected = or != and a value'],
    ['attributes.=b', 11, 'expected the name of an attribute'],
    ['attributes.!=b', 11, 'expected the name of an attribute'],
    ['attributes.a=\0', 13, 'U+0000 and lone surrogates are not accepted'],
    ['attributes.\ud800=b', 11, 'U+0000 and lone surrogates are not accepted'],
    [
      `attributes.${'a'.repeat(MAX_ATTRIBUTE_NAME + 1)}=b`,
      11 + MAX_ATTRIBUTE_NAME,
      'a name has at most 1024 characters',
    ],
    [
      `attributes.a=${'b'.repeat(MAX_ATTRIBUTE_VALUE + 1)}`,
      13 + MAX_ATTRIBUTE_VALUE,
      'a value has at most 4096 characters',
    ],
    [`attributes.${'.'.repeat(MAX_ATTRIBUTE_DEPTH)}=b`, 11, 'a name has at most 16 levels'],
  ])('%j is refused at character %i', (entry, position, reason) => {
    expect(refusal(() => parseAttributeEntry(entry, LIST))).toEqual({ field: 'query', position, reason });
  });

  it('may have a name, a value and as many levels as its caps say', () => {
    const [name, value] = ['a'.repeat(MAX_ATTRIBUTE_NAME), 'b'.repeat(MAX_ATTRIBUTE_VALUE)];
    expect(parseAttributeEntry(`attributes.${name}=${value}`, LIST)).toEqual(equals(name, value));
    const levels = new Array(MAX_ATTRIBUTE_DEPTH).fill('a').join('.');
    expect(parseAttributeEntry(`attributes.${levels}=b`, LIST)).toEqual(equals(levels, 'b'));
  });

  it('says in its message where and what, counting from 1', () => {
    expect(() => parseAttributeEntry('attributes.=b', LIST)).toThrow(
      'query: expected the name of an attribute at character 12',
    );
  });

  it.each<[string, string, AttributeTest]>([
    ['attributes.a', 'b', equals('a', 'b')],
    ['attributes.a!', '*', filled('a', true)],
    ['attributes.a!', 'b', equals('a', 'b', true)],
    ['attributes.a=b', 'c', equals('a=b', 'c')],
    ['attributes.a', 'b=c', equals('a', 'b=c')],
  ])('reads the query parameter %s with the value %s', (parameter, value, test) => {
    expect(parseAttributeParameter(parameter, value, LIST)).toEqual(test);
  });

  it('never fails with anything but its own error', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .string({ unit: fc.constantFrom('a', '=', '!', '*', ':', '.', '\ud800', '\0') })
        .map((rest) => `attributes.${rest}`),
    );
    fc.assert(
      fc.property(text, text, (entry, value) => {
        for (const read of [
          () => parseAttributeEntry(entry, LIST),
          () => parseAttributeParameter(entry, value, LIST),
          () => parsePolicyFilter([{ or: [entry, value] }], POLICY),
        ]) {
          try {
            read();
          } catch (error) {
            expect(error).toBeInstanceOf(FilterError);
            expect((error as FilterError).position).toBeLessThanOrEqual(entry.length + 1 + value.length);
          }
        }
      }),
    );
  });
});

describe('a policy filter', () => {
  it('is an AND of ORs in which a colon stands for =', () => {
    expect(
      parsePolicyFilter(
        [{ or: ['attributes.arc_location_identity:locations/5eef', 'attributes.a!:b'] }, { or: ['attributes.c=d:e'] }],
        POLICY,
      ),
    ).toEqual([[equals('arc_location_identity', 'locations/5eef'), equals('a', 'b', true)], [equals('c', 'd:e')]]);
  });

  it.each<[string, AttributeTest]>([
    ['attributes.confidential != yes', equals('confidential', 'yes', true)],
    ['attributes.confidential\t=  yes ', equals('confidential', 'yes')],
    ['attributes.call type = first line', equals('call type', 'first line')],
    ['attributes.a != *', filled('a', true)],
    ['attributes.arc_display_type : call', equals('arc_display_type', 'call')],
    ['attributes.a !: b', equals('a', 'b', true)],
    ['attributes.a ! = b', equals('a', 'b', true)],
    ['attributes. =b', equals(' ', 'b')],
  ])('gives white space around the operator of %j no meaning', (entry, test) => {
    expect(parsePolicyFilter([{ or: [entry] }], POLICY)).toEqual([[test]]);
  });

  it.each<[string, AttributeTest]>([
    ['attributes.dc:creator=fred', equals('dc:creator', 'fred')],
    ['attributes.dc:creator!=fred', equals('dc:creator', 'fred', true)],
    ['attributes.url:https://a.example/b', equals('url', 'https://a.example/b')],
  ])('takes a colon for = only in an entry without one: %s', (entry, test) => {
    expect(parsePolicyFilter([{ or: [entry] }], POLICY)).toEqual([[test]]);
  });

  it('reads entries without a prefix where there is none, as in user_attributes', () => {
    expect(
      parsePolicyFilter([{ or: ['group:maintainers', 'email=a@example.com'] }], { field: 'u', prefix: '' }),
    ).toEqual([[equals('group', 'maintainers'), equals('email', 'a@example.com')]]);
  });

  it('names the entry that is wrong', () => {
    const filters = [{ or: ['attributes.a=b'] }, { or: ['attributes.a=b', 'attributes.a'] }];
    expect(refusal(() => parsePolicyFilter(filters, POLICY))).toMatchObject({
      field: 'filters[1].or[1]',
      position: 12,
    });
  });

  it('refuses an empty or, and more tests than the cap', () => {
    expect(refusal(() => parsePolicyFilter([{ or: [] }], POLICY))).toMatchObject({ field: 'filters[0].or' });
    const or = ['attributes.a=b'];
    const most = new Array(MAX_ATTRIBUTE_TESTS).fill({ or });
    expect(parsePolicyFilter(most, POLICY)).toHaveLength(MAX_ATTRIBUTE_TESTS);
    expect(refusal(() => parsePolicyFilter([...most, { or }], POLICY))).toMatchObject({ field: 'filters[128].or' });
  });
});

describe('matching', () => {
  const ATTRIBUTES: Record<string, unknown> = JSON.parse(`{
    "text": "x", "empty": "", "map": {"inner": "y", "deep": {"er": "z"}}, "list": ["x"], "no map": {}, "no list": [],
    "map.inner": "literal", "nothing": null, "": "nameless"
  }`);

  it.each<[string, boolean]>([
    ['text=x', true],
    ['text=X', false],
    ['text!=x', false],
    ['text!=y', true],
    ['absent=x', false],
    ['absent!=x', true],
    ['text=*', true],
    ['map=*', true],
    ['list=*', true],
    ['empty=*', false],
    ['empty=', true],
    ['no map=*', false],
    ['no list=*', false],
    ['nothing=*', false],
    ['absent=*', false],
    ['absent!=*', true],
    ['no map!=*', true],
    ['map!=*', false],
    ['map={"inner": "y"}', false],
    ['map.inner=literal', true],
    ['map.inner=y', false],
    ['map.deep.er=z', true],
    ['list.0=x', false],
    ['text.length=*', false],
    ['toString=*', false],
    ['__proto__=*', false],
    ['constructor.name=*', false],
  ])('%s is %s', (entry, passes) => {
    const test = parseAttributeEntry(entry, { field: 'f', prefix: '' });
    expect(matchesAttributeTest(test, ATTRIBUTES)).toBe(passes);
  });

  it('needs one of every or', () => {
    const filter = [[equals('text', 'no'), equals('text', 'x')], [filled('map')]];
    expect(matchesAttributeFilter(filter, ATTRIBUTES)).toBe(true);
    expect(matchesAttributeFilter([...filter, [filled('absent')]], ATTRIBUTES)).toBe(false);
    expect(matchesAttributeFilter([], ATTRIBUTES)).toBe(true);
  });

  it('finds the literal key before the nested one', () => {
    expect(findAttribute(ATTRIBUTES, 'map.inner')).toBe('literal');
    expect(findAttribute(ATTRIBUTES, 'map.deep')).toEqual({ er: 'z' });
    expect(findAttribute(ATTRIBUTES, 'absent')).toBeUndefined();
  });
});
