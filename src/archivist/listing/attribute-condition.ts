import { parseAttributeParameter } from '../../filter/attribute-filter.js';
import { type AttributeTarget, attributeFilterSql } from '../../filter/filter-sql.js';
import { type Condition, condition, meaning } from '../../platform/listing/condition.js';
import { readFilter } from './read-filter.js';

/** Longer texts are not in the generated columns. */
const INDEXED_BYTES = 1024;

/** Attributes that a list can be filtered by. */
export interface AttributeColumn {
  /** What a parameter on them starts with. */
  readonly prefix: string;
  /** The jsonb column, or what of it counts for a key. */
  readonly column: AttributeTarget['column'];
  /** Generated columns with an index of their own, by attribute. */
  readonly indexed: Readonly<Record<string, string>>;
  /** Where the index of terms has these attributes, if it does. */
  readonly place?: string;
}

/**
 * The condition of one filter on an attribute: `=value`, `!=value`, `=*` or `!=*` (docs/design/interface.md#assets). `!=value` holds
 * where the attribute is missing, too.
 * @throws {ApiError} bad_request naming the parameter
 */
export function attributeCondition(where: AttributeColumn, parameter: string, value: string): Condition {
  const syntax = { field: parameter, prefix: where.prefix };
  const test = readFilter(() => parseAttributeParameter(parameter, value, syntax));
  const indexed = Buffer.byteLength(value) <= INDEXED_BYTES ? where.indexed : {};
  const { where: sql, values } = attributeFilterSql([[test]], { column: where.column, indexed }, () => '?');
  const found = condition(sql, ...values);
  // The index holds what stands at the top level: a dotted name may stand below it.
  if (!where.place || test.kind !== 'equals' || test.negated || test.name.includes('.')) return found;
  const hot = Object.hasOwn(indexed, test.name);
  // Of a column with keys that do not count for everybody, the index knows more than the condition.
  const whole = typeof where.column === 'string';
  return meaning({ kind: 'term', place: where.place, name: test.name, text: test.value, hot, whole }, found);
}
