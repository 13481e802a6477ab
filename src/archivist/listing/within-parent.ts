import { type Condition, condition, meaning } from '../../platform/listing/condition.js';

/**
 * The conditions of a list. For the rows of one parent, without the meanings of indexes that lead through the whole
 * tenancy: those of texts have another order, and others can find more rows than the parent has.
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
