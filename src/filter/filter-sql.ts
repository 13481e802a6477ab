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

const EMPTY = `('null'::jsonb, '""'::jsonb, '{}'::jsonb, '[]'::jsonb)`;

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
    const any = alternatives.map((test) => testSql(test, target, bound));
    return any.length === 0 ? 'false' : `(${any.join(' OR ')})`;
  });
  return all.length === 0 ? 'true' : all.join(' AND ');
}

function testSql(test: AttributeTest, target: AttributeTarget, bound: BoundValues): string {
  if (test.kind === 'filled') {
    return `coalesce(${attributeSql(test.name, target, bound)}, 'null'::jsonb) ${test.negated ? 'IN' : 'NOT IN'} ${EMPTY}`;
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

function attributeSql(name: string, { column }: AttributeTarget, bound: BoundValues): string {
  const places = attributePaths(name).map((path) => {
    const holder = typeof column === 'string' ? column : column(path[0]!, bound);
    return [holder, ...path.map((key) => bound.bindText(key))].join(' -> ');
  });
  return places.length === 1 ? `(${places[0]})` : `coalesce(${places.join(', ')})`;
}
