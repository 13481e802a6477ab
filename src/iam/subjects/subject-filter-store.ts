import { shownAddress } from '../../platform/keys/wallet-address.js';
import { type Condition, condition } from '../../platform/listing/condition.js';
import type { Filters } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import { requirePlain } from '../../platform/plain-text.js';

const FILTERS: Readonly<Record<string, string>> = {
  display_name: 's.display_name = ?',
  wallet_address: '? = ANY (s.wallet_address)',
};

/**
 * Conditions of a list of subjects, from the query's filters (docs/design/interface.md#shapes).
 * @throws {ApiError} bad_request for an unknown filter or value
 */
export function subjectConditions(filters: Filters): Condition[] {
  return filters.flatMap(([parameter, value]) => {
    if (parameter === 'order_by') return [];
    const sql = Object.hasOwn(FILTERS, parameter) ? FILTERS[parameter] : undefined;
    if (sql === undefined) throw noSuchFilter(parameter, ['order_by', ...Object.keys(FILTERS)]);
    requirePlain(value, parameter);
    return condition(sql, parameter === 'wallet_address' ? shownAddress(value) : value);
  });
}
