import { type Condition, condition, meaning } from '../../platform/listing/condition.js';

/**
 * The conditions of a list, as they count for the rows of one parent: without the indexes that would find the rows of
 * every parent in the tenancy.
 */
export function withinParent(conditions: readonly Condition[]): readonly Condition[] {
  if (!conditions.some(isOfParent)) return conditions;
  return conditions.map((each) => {
    if (each.means?.kind === 'term') return meaning({ ...each.means, hot: false }, each);
    return each.means?.kind === 'indexed' ? condition(each.sql, ...each.values) : each;
  });
}

export function isOfParent({ means }: Condition): boolean {
  return means?.kind === 'parent';
}
