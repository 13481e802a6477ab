import { ApiError } from '../../platform/errors.js';
import { type Condition, type ConditionMeaning, meaning } from '../../platform/listing/condition.js';
import { dottedName } from '../../platform/listing/dotted-name.js';

type Filter = readonly [parameter: string, value: string];

/** `any`, or `any.` and a name of the caller's own. */
const ALTERNATIVE = /^any(?:\..*)?$/s;

/**
 * Returns the conditions of a list's filters. All of them hold for an entry of the list; of those that are the values of
 * one `any` parameter (`any=<filter>&any=<filter>`) at least one does.
 * @param read the condition of one filter; undefined if it restricts nothing, or not here
 * @throws {ApiError} bad_request naming the parameter
 */
export function filterConditions(
  filters: readonly Filter[],
  read: (filter: Filter) => Condition | undefined,
): Condition[] {
  const found: Condition[] = [];
  const groups = new Map<string, Condition[]>();
  for (const [parameter, value] of filters) {
    if (!ALTERNATIVE.test(parameter)) found.push(...[read([parameter, value]) ?? []].flat());
    else groups.set(parameter, [...(groups.get(parameter) ?? []), alternative(parameter, value, read)]);
  }
  return [...found, ...[...groups.values()].map(anyOf)];
}

function alternative(parameter: string, value: string, read: (filter: Filter) => Condition | undefined): Condition {
  const end = value.indexOf('=');
  if (end < 0) throw new ApiError('bad_request', `${parameter}: must be a filter of this list, such as name=value`);
  const name = dottedName(value.slice(0, end));
  try {
    const found = read([name, value.slice(end + 1)]);
    if (found) return found;
  } catch (error) {
    if (error instanceof ApiError) throw new ApiError('bad_request', `${parameter}: ${error.message}`);
    throw error;
  }
  throw new ApiError('bad_request', `${parameter}: ${name} cannot be an alternative`);
}

function anyOf(alternatives: readonly Condition[]): Condition {
  const sql = alternatives.map((each) => `(${each.sql})`).join(' OR ');
  const found = { sql, values: alternatives.flatMap(({ values }) => values) };
  const terms = alternatives.flatMap(({ means }) => (means && isTerm(means) ? means : []));
  return terms.length === alternatives.length ? meaning({ kind: 'any', of: terms }, found) : found;
}

type AnyTerm = Extract<ConditionMeaning, { kind: 'term' | 'parent_term' }>;

function isTerm(means: ConditionMeaning): means is AnyTerm {
  return means.kind === 'term' || means.kind === 'parent_term';
}
