import { FilterError, requirePlainText } from './filter-error.js';
import {
  isIntegerProperty,
  isSearchProperty,
  readInteger,
  SEARCH_PROPERTIES,
  type SearchProperty,
} from './odata-property.js';
import { type OdataScanner, odataScanner, type Token } from './odata-scanner.js';

export type SearchOperator = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le';

/** A search filter as a tree. `trail` is the trail that the surrounding `anyTrail` tests. */
export type SearchFilter =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly SearchFilter[] }
  | { readonly kind: 'not'; readonly part: SearchFilter }
  | { readonly kind: 'anyTrail'; readonly part: SearchFilter }
  | {
      readonly kind: 'compare';
      readonly property: SearchProperty | 'trail';
      readonly operator: SearchOperator;
      readonly value: string | bigint;
    };

export const MAX_SEARCH_LENGTH = 8192;
/** Maximum nesting of parentheses, `not` and `any`. */
export const MAX_SEARCH_DEPTH = 32;
/** Maximum comparisons, connectives and negations of one filter. */
export const MAX_SEARCH_NODES = 256;

const OPERATORS: readonly string[] = ['eq', 'ne', 'gt', 'ge', 'lt', 'le'] satisfies SearchOperator[];

interface Parse {
  readonly scanner: OdataScanner;
  readonly fail: (position: number, reason: string) => never;
  nodes: number;
}

/** Which names a condition may use here, and how deep it is nested. */
interface Scope {
  readonly depth: number;
  /** Inside `any`, the only valid name: the variable that stands for a trail. */
  readonly trail?: string;
}

/**
 * Parses the filter of an events search (docs/design/interface.md#asset-free-events), a subset of OData 4: `eq ne gt ge
 * lt le` between a property and a value, `and`, `or`, `not`, parentheses, and `trails/any(t: …)`. `not` binds before
 * `and`, `and` before `or`. Texts are quoted, with quotes inside doubled; quotes around integers and times are
 * optional.
 * @throws {FilterError} pointing at the character; no other error
 */
export function parseSearchFilter(text: string): SearchFilter {
  const field = 'filter';
  const fail = (position: number, reason: string): never => {
    throw new FilterError(field, position, reason);
  };
  if (text.length > MAX_SEARCH_LENGTH) fail(MAX_SEARCH_LENGTH, `a filter has at most ${MAX_SEARCH_LENGTH} characters`);
  requirePlainText(text, field);
  const parse: Parse = { scanner: odataScanner(text, fail), fail, nodes: 0 };
  const filter = readChain(parse, { depth: 0 }, 'or');
  const rest = parse.scanner.next();
  if (rest.kind !== 'end') fail(rest.position, 'expected "and", "or" or the end of the filter');
  return filter;
}

function readChain(parse: Parse, scope: Scope, word: 'and' | 'or'): SearchFilter {
  const readPart = () => (word === 'or' ? readChain(parse, scope, 'and') : readCondition(parse, scope));
  const parts = [readPart()];
  while (isWord(parse.scanner.peek(), word)) {
    count(parse, parse.scanner.next());
    parts.push(readPart());
  }
  return parts.length === 1 ? parts[0]! : { kind: word, parts };
}

function readCondition(parse: Parse, scope: Scope): SearchFilter {
  const token = parse.scanner.next();
  if (token.kind === '(') {
    const filter = readChain(parse, deeper(parse, scope, token), 'or');
    expect(parse, ')');
    return filter;
  }
  if (token.kind !== 'word') return parse.fail(token.position, 'expected a condition');
  if (token.text === 'not') {
    count(parse, token);
    return { kind: 'not', part: readCondition(parse, deeper(parse, scope, token)) };
  }
  if (token.text === 'trails/any' && scope.trail === undefined) return readAny(parse, scope, token);
  return readComparison(parse, scope, token);
}

function readAny(parse: Parse, scope: Scope, start: Token): SearchFilter {
  count(parse, start);
  expect(parse, '(');
  const variable = parse.scanner.next();
  if (variable.kind !== 'word' || !/^[A-Za-z_]\w*$/.test(variable.text)) {
    parse.fail(variable.position, "expected the name of a variable, as in trails/any(t: t eq '…')");
  }
  expect(parse, ':');
  const part = readChain(parse, { ...deeper(parse, scope, start), trail: variable.text }, 'or');
  expect(parse, ')');
  return { kind: 'anyTrail', part };
}

function readComparison(parse: Parse, scope: Scope, token: Token): SearchFilter {
  count(parse, token);
  const property = readProperty(parse, scope, token);
  const operator = parse.scanner.next();
  if (operator.kind !== 'word' || !OPERATORS.includes(operator.text)) {
    parse.fail(operator.position, `expected one of ${OPERATORS.join(', ')}`);
  }
  const value = readValue(parse, property, parse.scanner.nextValue());
  return { kind: 'compare', property, operator: operator.text as SearchOperator, value };
}

function readProperty(parse: Parse, scope: Scope, token: Token): SearchProperty | 'trail' {
  if (scope.trail !== undefined) {
    if (token.text === scope.trail) return 'trail';
    return parse.fail(token.position, `expected ${scope.trail}: inside any(…) it is the only name`);
  }
  if (token.text === 'trails') {
    parse.fail(token.position, "trails is a list: write trails/any(t: t eq '…')");
  }
  if (!isSearchProperty(token.text))
    parse.fail(token.position, `no such property; expected trails/any or one of ${SEARCH_PROPERTIES.join(', ')}`);
  return token.text as SearchProperty;
}

function readValue(parse: Parse, property: SearchProperty | 'trail', token: Token): string | bigint {
  if (property !== 'trail' && isIntegerProperty(property)) {
    if (token.kind !== 'quoted' && token.kind !== 'bare') parse.fail(token.position, 'expected a value');
    const value = readInteger(property, token.text);
    return typeof value === 'bigint' ? value : parse.fail(token.position, value.reason);
  }
  if (token.kind !== 'quoted') parse.fail(token.position, `expected a text in single quotes`);
  return token.text;
}

function expect(parse: Parse, kind: '(' | ')' | ':'): void {
  const token = parse.scanner.next();
  if (token.kind !== kind) parse.fail(token.position, `expected ${kind}`);
}

function isWord(token: Token, text: string): boolean {
  return token.kind === 'word' && token.text === text;
}

function deeper(parse: Parse, scope: Scope, token: Token): Scope {
  if (scope.depth >= MAX_SEARCH_DEPTH) parse.fail(token.position, `a filter has at most ${MAX_SEARCH_DEPTH} levels`);
  return { ...scope, depth: scope.depth + 1 };
}

function count(parse: Parse, token: Token): void {
  parse.nodes += 1;
  if (parse.nodes > MAX_SEARCH_NODES) {
    parse.fail(token.position, `a filter has at most ${MAX_SEARCH_NODES} comparisons and connectives`);
  }
}
