import { ApiError } from '../errors.js';
import type { Filters } from './list-query.js';

export type ListOrder = 'newest' | 'oldest';

/** The simple-hash orders read in the order of acceptance; the default is newest first. */
export function listOrder(filters: Filters): ListOrder {
  const order = filters.find(([name]) => name === 'order_by')?.[1] ?? 'DEFAULT';
  if (order === 'DEFAULT') return 'newest';
  if (order === 'SIMPLEHASHV1' || order === 'SIMPLEHASHV2') return 'oldest';
  throw new ApiError('bad_request', 'order_by: must be one of DEFAULT, SIMPLEHASHV1, SIMPLEHASHV2');
}
