import { type AttributeFilter, type AttributeTest, attributePaths } from './attribute-filter.js';
import { type BoundSql, type BoundValues, boundValues, type Placeholder } from './bound-values.js';

/** Where the attributes are. All of it is SQL written by us, never taken from a caller. */
export interface AttributeTarget {
  /**
   * A jsonb expression that is an object, or null; or one for each top-level key that is looked at, which may bind values:
   * null for a key that counts as absent.
   */
  readonly column: string | ((key: string, bound: BoundValues) => string);
  /** Text expressions equal to `column ->> name` that have an index. */
  readonly indexed?: Readonly<Record<string, string>>;
}

const EMPTY = `('null'::jsonb, '""'::jsonb, '{}'::jsonb, '[]'::jsonb)`;

/**
 * The filter as a condition on a jsonb column, true exactly where `matchesAttributeFilter` is, and false, never null,
 * elsewhere. Names and values are bound, in the order of their placeholders, each once.
 */
export function attributeFilterSql(
  filter: AttributeFilter,
  target: AttributeTarget,
  placeholder?: Placeholder,
): BoundSql {
  const bound = boundValues(placeholder);
  return { where: writeAttributeFilter(filter, target, bound), values: bound.values };
}

/** The same condition in the midst of a longer one, whose values it is bound with. */
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
  // The column behind an index cannot tell a text from a list or map that reads the same, so it only narrows.
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
