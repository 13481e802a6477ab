import { type AttributeFilter, type AttributeTest, attributePaths } from './attribute-filter.js';

/**
 * True if the attributes match the filter. `filter-sql.ts` gives the same result in SQL, for every filter and every
 * object.
 */
export function matchesAttributeFilter(
  filter: AttributeFilter,
  attributes: Readonly<Record<string, unknown>>,
): boolean {
  return filter.every((alternatives) => alternatives.some((test) => matchesAttributeTest(test, attributes)));
}

export function matchesAttributeTest(test: AttributeTest, attributes: Readonly<Record<string, unknown>>): boolean {
  const found = findAttribute(attributes, test.name);
  return (test.kind === 'filled' ? isFilled(found) : found === test.value) !== test.negated;
}

/**
 * The attribute of this name: the literal key; if it does not exist and the name is dotted, the nested one. Lists are
 * not searched.
 */
export function findAttribute(attributes: Readonly<Record<string, unknown>>, name: string): unknown {
  for (const path of attributePaths(name)) {
    let found: unknown = attributes;
    for (const key of path) found = member(found, key);
    if (found !== undefined) return found;
  }
  return undefined;
}

function member(holder: unknown, key: string): unknown {
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder) || !Object.hasOwn(holder, key)) {
    return undefined;
  }
  return (holder as Record<string, unknown>)[key];
}

function isFilled(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
