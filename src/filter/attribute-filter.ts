import { FilterError, requirePlainText } from './filter-error.js';

/**
 * One test of one attribute. `equals`: the attribute is this text. `filled`: it exists and is not empty, regardless of
 * its type. Negated means the exact opposite: `!=x` is also true if the attribute is missing.
 */
export type AttributeTest =
  | { readonly kind: 'equals'; readonly name: string; readonly value: string; readonly negated: boolean }
  | { readonly kind: 'filled'; readonly name: string; readonly negated: boolean };

/** Every group must have at least one true test. A filter without groups is true for everything. */
export type AttributeFilter = readonly (readonly AttributeTest[])[];

/** One member of the policy form: alternatives as the caller wrote them. */
export interface Alternatives {
  readonly or: readonly string[];
}

interface AttributeSyntax {
  /** Names the filter in errors. */
  readonly field: string;
  /** The prefix of every entry; empty for entries that begin with the attribute's name. */
  readonly prefix: string;
}

export const MAX_ATTRIBUTE_NAME = 1024;
export const MAX_ATTRIBUTE_VALUE = 4096;
/** Levels of a dotted name. */
export const MAX_ATTRIBUTE_DEPTH = 16;
/** Maximum tests of one filter, counting all alternatives. */
export const MAX_ATTRIBUTE_TESTS = 128;

/**
 * Parses the policy form of access and compliance policies: `[{or: [entry, …]}, …]`, each entry as in
 * `parseAttributeEntry`, but white space around `=` and `!=` does not count, and in an entry without `=`, the first `:`
 * stands for it (docs/design/interface.md#shapes). An empty outer list is true for everything.
 * @throws {FilterError} whose field is `<field>[i].or[j]`
 */
export function parsePolicyFilter(filters: readonly Alternatives[], syntax: AttributeSyntax): AttributeFilter {
  let tests = 0;
  return filters.map(({ or }, outer) => {
    const field = `${syntax.field}[${outer}].or`;
    if (or.length === 0) throw new FilterError(field, 0, 'must hold at least one entry');
    tests += or.length;
    if (tests > MAX_ATTRIBUTE_TESTS) {
      throw new FilterError(field, 0, `a filter has at most ${MAX_ATTRIBUTE_TESTS} entries`);
    }
    return or.map((entry, inner) => parsePolicyEntry(entry, { field: `${field}[${inner}]`, prefix: syntax.prefix }));
  });
}

/** People write `attributes.confidential != yes`: read letter by letter, it would be true for every asset. */
function parsePolicyEntry(entry: string, syntax: AttributeSyntax): AttributeTest {
  const at = entry.search(entry.includes('=') ? /=/ : /:/);
  const left = entry.slice(0, Math.max(at, 0)).trimEnd();
  const name = left.replace(/!$/u, '').trimEnd();
  // A policy that was stored before must stay readable.
  if (name.length <= syntax.prefix.length) return parseEntry(entry, syntax, /[=:]/);
  const negated = left.endsWith('!') ? '!' : '';
  return readTest(`${name}${negated}=${entry.slice(at + 1).trim()}`, name.length + negated.length, syntax);
}

/**
 * Parses one entry: `attributes.<name>=<value>`, `!=`, `=*` (exists and is not empty) or `!=*` (missing or empty). The
 * name ends at the first `=`; the rest is the literal value.
 * @throws {FilterError} pointing at the character
 */
export function parseAttributeEntry(entry: string, syntax: AttributeSyntax): AttributeTest {
  return parseEntry(entry, syntax, /=/);
}

/**
 * Parses the same test from a decoded query parameter, `attributes.<name>` and its value. A query string turns
 * `attributes.<name>!=*` into the parameter `attributes.<name>!`. Here the name itself may contain `=`.
 * @throws {FilterError} whose positions count in `<parameter>=<value>`
 */
export function parseAttributeParameter(parameter: string, value: string, syntax: AttributeSyntax): AttributeTest {
  return readTest(`${parameter}=${value}`, parameter.length, syntax);
}

/**
 * The paths that a name can refer to: the literal key, then for a dotted name the nested one
 * (docs/design/interface.md#assets).
 */
export function attributePaths(name: string): readonly (readonly string[])[] {
  return name.includes('.') ? [[name], name.split('.')] : [[name]];
}

function parseEntry(entry: string, syntax: AttributeSyntax, equals: RegExp): AttributeTest {
  requirePrefix(entry, syntax);
  const found = entry.slice(syntax.prefix.length).search(equals);
  if (found < 0) throw new FilterError(syntax.field, entry.length, 'expected = or != and a value');
  return readTest(entry, syntax.prefix.length + found, syntax);
}

function readTest(entry: string, equalsAt: number, syntax: AttributeSyntax): AttributeTest {
  requirePrefix(entry, syntax);
  requirePlainText(entry, syntax.field);
  const start = syntax.prefix.length;
  const negated = equalsAt > start && entry[equalsAt - 1] === '!';
  const name = entry.slice(start, negated ? equalsAt - 1 : equalsAt);
  const value = entry.slice(equalsAt + 1);
  if (name === '') throw new FilterError(syntax.field, start, 'expected the name of an attribute');
  if (name.length > MAX_ATTRIBUTE_NAME) {
    throw new FilterError(
      syntax.field,
      start + MAX_ATTRIBUTE_NAME,
      `a name has at most ${MAX_ATTRIBUTE_NAME} characters`,
    );
  }
  if (name.split('.').length > MAX_ATTRIBUTE_DEPTH) {
    throw new FilterError(syntax.field, start, `a name has at most ${MAX_ATTRIBUTE_DEPTH} levels`);
  }
  if (value.length > MAX_ATTRIBUTE_VALUE) {
    const position = equalsAt + 1 + MAX_ATTRIBUTE_VALUE;
    throw new FilterError(syntax.field, position, `a value has at most ${MAX_ATTRIBUTE_VALUE} characters`);
  }
  return value === '*' ? { kind: 'filled', name, negated } : { kind: 'equals', name, value, negated };
}

function requirePrefix(entry: string, { field, prefix }: AttributeSyntax): void {
  if (entry.startsWith(prefix)) return;
  let position = 0;
  while (entry[position] === prefix[position]) position += 1;
  throw new FilterError(field, position, `expected ${prefix}<name>`);
}
