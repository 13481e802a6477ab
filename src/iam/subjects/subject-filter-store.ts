import { ApiError } from '../../platform/errors.js';
import { type Condition, condition } from '../../platform/listing/condition.js';
import type { Filters } from '../../platform/listing/list-query.js';
import { isPlainText } from '../../platform/plain-text.js';
import type { Subject } from './subject.js';

const FILTERS: Readonly<Record<string, string>> = {
  display_name: 's.display_name = ?',
  wallet_address: '? = ANY (s.wallet_address)',
};

/**
 * Conditions of a list of subjects, from the query's filters (openapi facts, subjectsv1).
 * @throws {ApiError} bad_request for an unknown filter or value
 */
export function subjectConditions(filters: Filters): Condition[] {
  return filters.flatMap(([parameter, value]) => {
    if (parameter === 'order_by') return [];
    const sql = Object.hasOwn(FILTERS, parameter) ? FILTERS[parameter] : undefined;
    if (sql === undefined) throw new ApiError('bad_request', `${parameter}: no such filter`);
    if (!isPlainText(value)) throw new ApiError('bad_request', `${parameter}: is not a usable text`);
    return condition(sql, value);
  });
}

/** An order of the list: the expression that is unique to each subject, and its value. */
export interface SubjectOrder {
  readonly order: 'newest' | 'oldest';
  readonly column: string;
  readonly orderBy: string;
  keyOf(subject: Subject): string;
}

const BY_ID: SubjectOrder = {
  order: 'newest',
  column: 's.subject_id',
  orderBy: 's.subject_id DESC',
  keyOf: (subject) => subject.subjectId,
};
// The id makes equal names differ; by bytes, so that the order is the same in every database.
const NAME_AND_ID = `(s.display_name || ' ' || s.subject_id::text) COLLATE "C"`;
const BY_NAME: SubjectOrder = {
  order: 'oldest',
  column: NAME_AND_ID,
  orderBy: NAME_AND_ID,
  keyOf: (subject) => `${subject.displayName} ${subject.subjectId}`,
};

/** Newest first and Self last, or by name. @throws {ApiError} bad_request for another order */
export function subjectOrder(filters: Filters): SubjectOrder {
  const order = filters.find(([name]) => name === 'order_by')?.[1] ?? 'DEFAULT';
  if (order === 'DEFAULT') return BY_ID;
  if (order === 'DISPLAY_NAME') return BY_NAME;
  throw new ApiError('bad_request', 'order_by: must be one of DEFAULT, DISPLAY_NAME');
}
