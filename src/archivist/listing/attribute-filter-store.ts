import { ApiError } from '../../platform/errors.js';
import { isPlainText } from '../plain-text.js';
import { type Condition, condition } from './condition.js';

/** Longer texts are not in the generated columns. */
const INDEXED_BYTES = 1024;

/** Where attributes are searched: the jsonb column, and generated columns that have their own index. */
export interface AttributeColumn {
  readonly column: string;
  readonly indexed: Readonly<Record<string, string>>;
}

/**
 * The condition of one filter on an attribute. `name=value` compares texts, `name=*` means present and not empty,
 * `name!=*` missing or empty. A dotted name means the literal key, and when there is none, the nested one (DESIGN 10).
 * @param name as it stands in the query after its prefix; ends in `!` for `!=`
 * @throws {ApiError} bad_request naming the parameter
 */
export function attributeCondition(where: AttributeColumn, name: string, value: string, parameter: string): Condition {
  const negated = name.endsWith('!');
  const key = negated ? name.slice(0, -1) : name;
  if (key === '' || !isPlainText(key) || !isPlainText(value)) {
    throw new ApiError('bad_request', `${parameter}: is not a usable attribute filter`);
  }
  if (negated && value !== '*') throw new ApiError('bad_request', `${parameter}: != is only understood with *`);
  const path = key.split('.');
  if (value === '*') {
    const found =
      path.length > 1 ? `coalesce(${where.column} -> ?, ${where.column} #> ?::text[])` : `${where.column} -> ?`;
    const filled = `coalesce(${found}, '""'::jsonb) NOT IN ('""'::jsonb, '{}'::jsonb, '[]'::jsonb)`;
    return condition(negated ? `NOT (${filled})` : filled, key, ...(path.length > 1 ? [path] : []));
  }
  const indexed = Object.hasOwn(where.indexed, key) ? where.indexed[key] : undefined;
  if (indexed && Buffer.byteLength(value) <= INDEXED_BYTES) return condition(`${indexed} = ?`, value);
  if (path.length === 1) return condition(`${where.column} ->> ? = ?`, key, value);
  return condition(`coalesce(${where.column} ->> ?, ${where.column} #>> ?::text[]) = ?`, key, path, value);
}
