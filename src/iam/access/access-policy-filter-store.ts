import { ApiError } from '../../platform/errors.js';
import { type Condition, condition } from '../../platform/listing/condition.js';
import type { Filters } from '../../platform/listing/list-query.js';
import { isPlainText } from '../../platform/plain-text.js';
import type { AccessPolicy } from './access-policy.js';

const TEXTS: Readonly<Record<string, string>> = { display_name: 'p.display_name', description: 'p.description' };

/** Names of the list's parameters. */
export const ACCESS_POLICY_FILTERS = ['order_by', ...Object.keys(TEXTS)];

/**
 * Conditions of a list of policies, from the query's filters (openapi facts: accesspoliciesv1).
 * @throws {ApiError} bad_request for an unknown filter or value
 */
export function accessPolicyConditions(filters: Filters): Condition[] {
  return filters.flatMap(([parameter, value]) => {
    if (parameter === 'order_by') return [];
    const column = Object.hasOwn(TEXTS, parameter) ? TEXTS[parameter] : undefined;
    if (column === undefined) throw new ApiError('bad_request', `${parameter}: no such filter`);
    if (!isPlainText(value)) throw new ApiError('bad_request', `${parameter}: is not a usable text`);
    return condition(`${column} = ?`, value);
  });
}

/** An order of the list: the expression that is unique to each policy, and its value. */
export interface AccessPolicyOrder {
  readonly order: 'newest' | 'oldest';
  readonly column: string;
  readonly orderBy: string;
  keyOf(policy: AccessPolicy): string;
}

const BY_ID: AccessPolicyOrder = {
  order: 'newest',
  column: 'p.policy_id',
  orderBy: 'p.policy_id DESC',
  keyOf: (policy) => policy.policyId,
};
// The id makes equal names differ; by bytes, so that the order is the same in every database.
const NAME_AND_ID = `(p.display_name || ' ' || p.policy_id::text) COLLATE "C"`;
const BY_NAME: AccessPolicyOrder = {
  order: 'oldest',
  column: NAME_AND_ID,
  orderBy: NAME_AND_ID,
  keyOf: (policy) => `${policy.display_name} ${policy.policyId}`,
};

/** Newest first, or by name. @throws {ApiError} bad_request for another order */
export function accessPolicyOrder(filters: Filters): AccessPolicyOrder {
  const order = filters.find(([name]) => name === 'order_by')?.[1] ?? 'DEFAULT';
  if (order === 'DEFAULT') return BY_ID;
  if (order === 'DISPLAY_NAME') return BY_NAME;
  throw new ApiError('bad_request', 'order_by: must be one of DEFAULT, DISPLAY_NAME');
}
