import { type Condition, condition } from '../../platform/listing/condition.js';
import type { Filters } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import { requirePlain } from '../../platform/plain-text.js';
import { attributeCondition } from '../listing/attribute-condition.js';
import { filterConditions } from '../listing/filter-conditions.js';

const ATTRIBUTES = { prefix: 'attributes.', column: 'l.attributes', indexed: {} };
const TEXTS: Readonly<Record<string, string>> = { display_name: 'l.display_name', description: 'l.description' };

/** Names of the list's parameters, apart from attributes. */
export const LOCATION_FILTERS = ['order_by', ...Object.keys(TEXTS)];

/**
 * Returns the conditions of a list of locations from the query's filters (docs/design/interface.md#shapes).
 * @throws {ApiError} bad_request for an unknown filter or value
 */
export function locationConditions(filters: Filters): Condition[] {
  return filterConditions(filters, ([parameter, value]) => {
    if (parameter === 'order_by') return undefined;
    if (parameter.startsWith(ATTRIBUTES.prefix)) return attributeCondition(ATTRIBUTES, parameter, value);
    const column = Object.hasOwn(TEXTS, parameter) ? TEXTS[parameter] : undefined;
    if (column === undefined) throw noSuchFilter(parameter, [`${ATTRIBUTES.prefix}<name>`, ...LOCATION_FILTERS]);
    requirePlain(value, parameter);
    return condition(`${column} = ?`, value);
  });
}
