import { ApiError } from '../errors.js';
import type { Filters } from './list-query.js';

export type ListOrder = 'newest' | 'oldest';

/** The values of `order_by` in lists of assets and their events. */
export const TIME_ORDERS: readonly string[] = ['DEFAULT', 'SIMPLEHASHV1', 'SIMPLEHASHV2'];
/** The values of `order_by` in lists of what has a name. */
export const NAME_ORDERS: readonly string[] = ['DEFAULT', 'DISPLAY_NAME'];

/** The simple-hash orders read in the order of acceptance; the default is newest first. */
export function listOrder(filters: Filters): ListOrder {
  const order = filters.find(([name]) => name === 'order_by')?.[1] ?? 'DEFAULT';
  if (!TIME_ORDERS.includes(order))
    throw new ApiError('bad_request', `order_by: must be one of ${TIME_ORDERS.join(', ')}`);
  return order === 'DEFAULT' ? 'newest' : 'oldest';
}
