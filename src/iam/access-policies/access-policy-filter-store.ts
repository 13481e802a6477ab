import { type Condition, condition } from '../../platform/listing/condition.js';
import type { Filters } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import { requirePlain } from '../../platform/plain-text.js';

const TEXTS: Readonly<Record<string, string>> = { display_name: 'p.display_name', description: 'p.description' };

/** Names of the list's parameters. */
export const ACCESS_POLICY_FILTERS = ['order_by', ...Object.keys(TEXTS)];

/**
 * Conditions of a list of policies, from the query's filters (docs/design/interface.md#shapes).
 * @throws {ApiError} bad_request for an unknown filter or value
 */
export function accessPolicyConditions(filters: Filters): Condition[] {
  return filters.flatMap(([parameter, value]) => {
    if (parameter === 'order_by') return [];
    const column = Object.hasOwn(TEXTS, parameter) ? TEXTS[parameter] : undefined;
    if (column === undefined) throw noSuchFilter(parameter, ACCESS_POLICY_FILTERS);
    requirePlain(value, parameter);
    return condition(`${column} = ?`, value);
  });
}
