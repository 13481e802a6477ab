import { type AttributeFilter, type AttributeTest, attributePaths } from './attribute-filter.js';
import { type BoundSql, type BoundValues, boundValues, type Placeholder } from './bound-values.js';

/** Where the attributes are. All of it is our own SQL, never taken from a caller. */
export interface AttributeTarget {
  /**
   * A jsonb expression that is an object, or null; or a function that returns one per top-level key and may bind
   * values, with null for a key that counts as absent.
   */
  readonly column: string | ((key: string, bound: BoundValues) => string);
  /** Text expressions equal to `column ->> name` that have an index. */
  readonly indexed?: Readonly<Record<string, string>>;
}

/** The values of an attribute that is not filled. */
export const EMPTY_VALUES = `('null'::jsonb, '""'::jsonb, '{}'::jsonb, '[]'::jsonb)`;

/**
 * Returns the filter as a condition on a jsonb column: true exactly where `matchesAttributeFilter` is, elsewhere false
 * and never null. Names and values are bound in the order of their placeholders, each once.
 */
export function attributeFilterSql(
  filter: AttributeFilter,
  target: AttributeTarget,
  placeholder?: Placeholder,
): BoundSql {
  const bound = boundValues(placeholder);
  return { where: writeAttributeFilter(filter, target, bound), values: bound.values };
}

/** Writes the same condition as a part of a longer one, and binds its values there. */
export function writeAttributeFilter(filter: AttributeFilter, target: AttributeTarget, bound: BoundValues): string {
  const all = filter.map((alternatives) => {
    const any = alternativesOf(alternatives).map((test) => testSql(test, target, bound));
    return any.length === 0 ? 'false' : `(${any.join(' OR ')})`;
  });
  return all.length === 0 ? 'true' : all.join(' AND ');
}

/** The attribute is one of these texts. */
interface OneOf {
  readonly kind: 'one_of';
  readonly name: string;
  readonly values: readonly string[];
}

/** The tests of a list, those that ask for several texts of one attribute as one: the database looks it up once. */
function alternativesOf(tests: AttributeFilter[number]): readonly (AttributeTest | OneOf)[] {
  const texts = new Map<string, Set<string>>();
  const others: AttributeTest[] = [];
  for (const test of tests) {
    if (test.kind !== 'equals' || test.negated) others.push(test);
    else if (!texts.get(test.name)?.add(test.value)) texts.set(test.name, new Set([test.value]));
  }
  const listed = [...texts].map(([name, values]): AttributeTest | OneOf => {
    const [value, ...more] = values;
    return more.length === 0
      ? { kind: 'equals', name, value: value!, negated: false }
      : { kind: 'one_of', name, values: [...values] };
  });
  return [...listed, ...others];
}

function testSql(test: AttributeTest | OneOf, target: AttributeTarget, bound: BoundValues): string {
  if (test.kind === 'one_of') return oneOfSql(test, target, bound);
  if (test.kind === 'filled') {
    return `coalesce(${attributeSql(test.name, target, bound)}, 'null'::jsonb) ${test.negated ? 'IN' : 'NOT IN'} ${EMPTY_VALUES}`;
  }
  const { indexed } = target;
  // The indexed expression cannot tell a text from a list or map with the same text, so it only narrows the search.
  const narrowed =
    !test.negated && indexed && Object.hasOwn(indexed, test.name)
      ? `${indexed[test.name]} = ${bound.bindText(test.value)} AND `
      : '';
  const found = attributeSql(test.name, target, bound);
  const comparison = test.negated ? 'IS DISTINCT FROM' : 'IS NOT DISTINCT FROM';
  return `(${narrowed}${found} ${comparison} to_jsonb(${bound.bindText(test.value)}))`;
}

function oneOfSql({ name, values }: OneOf, target: AttributeTarget, bound: BoundValues): string {
  const { indexed } = target;
  const narrowed =
    indexed && Object.hasOwn(indexed, name) ? `${indexed[name]} = ANY (${bound.bindAs(values, 'text[]')}) AND ` : '';
  const found = attributeSql(name, target, bound);
  const wanted = bound.bindAs(values.map(jsonText), 'jsonb[]');
  return `(${narrowed}coalesce(${found} = ANY (${wanted}), false))`;
}

/** A text as the JSON that a jsonb[] is bound with. */
export function jsonText(text: string): string {
  return JSON.stringify(text);
}

function attributeSql(name: string, { column }: AttributeTarget, bound: BoundValues): string {
  const places = attributePaths(name).map((path) => {
    const holder = typeof column === 'string' ? column : column(path[0]!, bound);
    return [holder, ...path.map((key) => bound.bindText(key))].join(' -> ');
  });
  return places.length === 1 ? `(${places[0]})` : `coalesce(${places.join(', ')})`;
}
