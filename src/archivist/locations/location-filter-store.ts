import { ApiError } from '../../platform/errors.js';
import { type Condition, condition } from '../../platform/listing/condition.js';
import type { Filters } from '../../platform/listing/list-query.js';
import { isPlainText } from '../../platform/plain-text.js';
import { attributeCondition } from '../listing/attribute-condition.js';
import type { Location } from './location.js';

const ATTRIBUTES = { prefix: 'attributes.', column: 'l.attributes', indexed: {} };
const TEXTS: Readonly<Record<string, string>> = { display_name: 'l.display_name', description: 'l.description' };

/** Names of the list's parameters beside attributes. */
export const LOCATION_FILTERS = ['order_by', ...Object.keys(TEXTS)];

/**
 * Conditions of a list of locations, from the query's filters (openapi facts, locationsv2).
 * @throws {ApiError} bad_request for an unknown filter or value
 */
export function locationConditions(filters: Filters): Condition[] {
  return filters.flatMap(([parameter, value]) => {
    if (parameter === 'order_by') return [];
    if (parameter.startsWith(ATTRIBUTES.prefix)) return attributeCondition(ATTRIBUTES, parameter, value);
    const column = Object.hasOwn(TEXTS, parameter) ? TEXTS[parameter] : undefined;
    if (column === undefined) throw new ApiError('bad_request', `${parameter}: no such filter`);
    if (!isPlainText(value)) throw new ApiError('bad_request', `${parameter}: is not a usable text`);
    return condition(`${column} = ?`, value);
  });
}

/** An order of the list: the expression that is unique to each location, and its value. */
export interface LocationOrder {
  readonly order: 'newest' | 'oldest';
  readonly column: string;
  readonly orderBy: string;
  keyOf(location: Location): string;
}

const BY_ID: LocationOrder = {
  order: 'newest',
  column: 'l.location_id',
  orderBy: 'l.location_id DESC',
  keyOf: (location) => location.locationId,
};
// The id makes equal names differ; by bytes, so that the order is the same in every database.
const NAME_AND_ID = `(l.display_name || ' ' || l.location_id::text) COLLATE "C"`;
const BY_NAME: LocationOrder = {
  order: 'oldest',
  column: NAME_AND_ID,
  orderBy: NAME_AND_ID,
  keyOf: (location) => `${location.displayName} ${location.locationId}`,
};

/** Newest first, or by name. @throws {ApiError} bad_request for another order */
export function locationOrder(filters: Filters): LocationOrder {
  const order = filters.find(([name]) => name === 'order_by')?.[1] ?? 'DEFAULT';
  if (order === 'DEFAULT') return BY_ID;
  if (order === 'DISPLAY_NAME') return BY_NAME;
  throw new ApiError('bad_request', 'order_by: must be one of DEFAULT, DISPLAY_NAME');
}
