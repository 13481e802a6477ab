import { ApiError } from '../../platform/errors.js';
import { type Condition, condition } from '../../platform/listing/condition.js';
import type { Filters } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import { requirePlain } from '../../platform/plain-text.js';
import { COMPLIANCE_TYPES } from './compliance-policy.js';

const TEXTS: Readonly<Record<string, string>> = { display_name: 'display_name', description: 'description' };

/** Names of the list's parameters. */
export const COMPLIANCE_POLICY_FILTERS = ['compliance_type', 'order_by', ...Object.keys(TEXTS)];

/** The values that `compliance_type` accepts. */
export const COMPLIANCE_TYPE_FILTERS: readonly string[] = ['COMPLIANCE_TYPE_UNDEFINED', ...COMPLIANCE_TYPES];

/**
 * Conditions of a list of policies, from the query's filters (docs/design/interface.md#shapes).
 * @throws {ApiError} bad_request for an unknown filter or value
 */
export function policyConditions(filters: Filters): Condition[] {
  return filters.flatMap(([parameter, value]) => {
    if (parameter === 'compliance_type') return typeCondition(value);
    if (parameter === 'order_by') return defaultOrder(value);
    if (!Object.hasOwn(TEXTS, parameter)) throw noSuchFilter(parameter, COMPLIANCE_POLICY_FILTERS);
    requirePlain(value, parameter);
    return condition(`p.policy ->> '${TEXTS[parameter]}' = ?`, value);
  });
}

function typeCondition(value: string): Condition[] {
  if (value === '' || value === 'COMPLIANCE_TYPE_UNDEFINED') return [];
  if ((COMPLIANCE_TYPES as readonly string[]).includes(value))
    return [condition(`p.policy ->> 'compliance_type' = ?`, value)];
  throw new ApiError('bad_request', `compliance_type: must be one of ${COMPLIANCE_TYPE_FILTERS.join(', ')}`);
}

function defaultOrder(value: string): Condition[] {
  if (value === 'DEFAULT') return [];
  throw new ApiError('bad_request', 'order_by: must be DEFAULT');
}
