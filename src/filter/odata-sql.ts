import { type BoundSql, type BoundValues, boundValues, type Placeholder } from './bound-values.js';
import type { SearchFilter } from './odata.js';
import type { SearchProperty } from './odata-property.js';

/**
 * Where a search finds its properties: our own SQL, never taken from a caller. `trails` is a jsonb list of texts;
 * `created_at` and `ledger_entry/index` are bigint, all others text in the form of the interface. A missing property is
 * null.
 */
export type SearchColumns = Readonly<Record<SearchProperty | 'trails', string>>;

type Comparison = Extract<SearchFilter, { kind: 'compare' }>;

const ORDER = { gt: '>', ge: '>=', lt: '<', le: '<=' } as const;

/**
 * Returns the filter as a condition: true exactly where `matchesSearchFilter` is, elsewhere false and never null.
 * Values are bound in the order of their placeholders, each once.
 */
export function searchFilterSql(filter: SearchFilter, columns: SearchColumns, placeholder?: Placeholder): BoundSql {
  const bound = boundValues(placeholder);
  return { where: filterSql(filter, columns, bound), values: bound.values };
}

function filterSql(filter: SearchFilter, columns: SearchColumns, bound: BoundValues): string {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const parts = filter.parts.map((part) => filterSql(part, columns, bound));
      return `(${parts.join(filter.kind === 'and' ? ' AND ' : ' OR ')})`;
    }
    case 'not':
      return `NOT ${filterSql(filter.part, columns, bound)}`;
    case 'anyTrail': {
      // Nearly every search of trails has this form. Unpacking the list for it costs as much as finding the event.
      if (filter.part.kind === 'compare' && filter.part.operator === 'eq')
        return `jsonb_exists(${columns.trails}, ${bound.bindText(String(filter.part.value))})`;
      const part = filterSql(filter.part, columns, bound);
      return `EXISTS (SELECT FROM jsonb_array_elements_text(${columns.trails}) AS searched(trail) WHERE ${part})`;
    }
    case 'compare':
      return `(${comparisonSql(filter, columns, bound)})`;
  }
}

function comparisonSql({ property, operator, value }: Comparison, columns: SearchColumns, bound: BoundValues): string {
  const column = property === 'trail' ? 'searched.trail' : `(${columns[property]})`;
  const given = typeof value === 'bigint' ? `${bound.bindText(value.toString())}::bigint` : bound.bindText(value);
  if (operator === 'ne') return `${column} IS DISTINCT FROM ${given}`;
  // Without the second half, `not` of a missing property would be null instead of true.
  if (operator === 'eq') return `${column} = ${given} AND ${column} IS NOT NULL`;
  const collated = typeof value === 'bigint' ? column : `${column} COLLATE "C"`;
  return `${collated} ${ORDER[operator]} ${given} AND ${column} IS NOT NULL`;
}
