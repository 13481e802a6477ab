import { parseAttributeParameter } from '../../filter/attribute-filter.js';
import { type AttributeTarget, attributeFilterSql } from '../../filter/filter-sql.js';
import { type Condition, meaning, written } from '../../platform/listing/condition.js';
import { readFilter } from './read-filter.js';

/** Longer texts are not in the generated columns. */
const INDEXED_BYTES = 1024;

/** The values that a caller may filter by. */
export interface ReadableAttributes {
  /** The jsonb column, or the part of it that the caller may read. */
  readonly column: AttributeTarget['column'];
  /** Set if some values are older than those in the indexes, so that no index may narrow the search. */
  readonly past?: true;
}

/** Attributes that a list can be filtered by. */
interface AttributeColumn extends ReadableAttributes {
  /** The prefix of their parameters. */
  readonly prefix: string;
  /** Generated columns with an index of their own, by attribute. */
  readonly indexed: Readonly<Record<string, string>>;
  /** The name of these attributes in the index of terms, if they are in it. */
  readonly place?: string;
}

/**
 * Returns the condition of one filter on an attribute: `=value`, `!=value`, `=*` or `!=*`
 * (docs/design/interface.md#assets). `!=value` also matches where the attribute is missing.
 * @throws {ApiError} bad_request naming the parameter
 */
export function attributeCondition(where: AttributeColumn, parameter: string, value: string): Condition {
  const syntax = { field: parameter, prefix: where.prefix };
  const test = readFilter(() => parseAttributeParameter(parameter, value, syntax));
  const indexed = Buffer.byteLength(value) <= INDEXED_BYTES && !where.past ? where.indexed : {};
  const filter = attributeFilterSql([[test]], { column: where.column, indexed }, () => '?');
  const found = written(filter.where, filter);
  // The index covers only the top level, but a dotted name may refer to a nested attribute.
  if (!where.place || where.past || test.kind !== 'equals' || test.negated || test.name.includes('.')) return found;
  const hot = Object.hasOwn(indexed, test.name);
  // If some keys of a column are hidden from this caller, the index would match more than the condition may.
  const whole = typeof where.column === 'string';
  return meaning({ kind: 'term', place: where.place, name: test.name, text: test.value, hot, whole }, found);
}
