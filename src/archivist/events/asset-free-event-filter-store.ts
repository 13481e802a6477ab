import type { Visibility } from '../../iam/access/permits.js';
import { SECURITY_EVENT_TYPE } from '../../iam/security/security-event.js';
import { type Condition, condition, meaning } from '../../platform/listing/condition.js';
import type { ListDescription } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import { requirePlain } from '../../platform/plain-text.js';
import { readTimestamp } from '../../platform/timestamps.js';
import { attributeCondition } from '../listing/attribute-condition.js';
import { CONFIRMATION_FILTERS, type EntryColumns } from '../listing/confirmation-filter-store.js';
import { filterConditions } from '../listing/filter-conditions.js';

/** The event `e`, for filters on its progress. */
export const ASSET_FREE_ENTRY: EntryColumns = {
  tenantId: 'e.tenant_id',
  eventId: 'e.event_id',
  simpleHash: undefined,
  among: ({ sql, values }) => condition(`e.event_id = ANY (ARRAY(${sql}))`, ...values),
};

/** The name of the event's own member, and that of the list of asset events, so that one query can ask both lists. */
const PREFIXES = ['attributes.', 'event_attributes.'];
const ATTRIBUTES = { column: 'e.attributes', indexed: {}, place: 'event_attributes' };
const PROGRESS = ['confirmation_status', 'minimum_trust'];

type Reader = (value: string, parameter: string) => Condition;

const equal =
  (sql: string, name: string): Reader =>
  (value, parameter) => {
    requirePlain(value, parameter);
    return meaning({ kind: 'term', place: 'event', name, text: value, hot: false, whole: true }, condition(sql, value));
  };

const time =
  (comparison: '>=' | '<'): Reader =>
  (value, parameter) =>
    meaning(
      { kind: 'indexed' },
      condition(`e.created_at_ms ${comparison} ?`, String(readTimestamp(value, parameter).firstMs)),
    );

const FILTERS: Readonly<Record<string, Reader>> = {
  trails: equal('jsonb_exists(e.trails, ?::text)', 'trail'),
  event_type: equal('e.event_type = ?', 'event_type'),
  created_by: equal('e.created_by = ?', 'created_by'),
  timestamp_accepted_since: time('>='),
  timestamp_accepted_before: time('<'),
};

/** Names of the list's parameters, apart from attributes. */
export const ASSET_FREE_FILTERS = [...PROGRESS, ...Object.keys(FILTERS)];

/** The parameters that the OpenAPI documents describe. */
export const ASSET_FREE_LIST: ListDescription = {
  attributes: PREFIXES,
  values: { confirmation_status: CONFIRMATION_FILTERS, minimum_trust: CONFIRMATION_FILTERS },
};

/** The events `e` of a tenancy that its caller may read. The security audit has a list of its own. */
export function visibleAssetFreeEvents(tenantId: string, visibility: Visibility): Condition[] {
  const listed = [
    meaning({ kind: 'tenancy', tenantId }, condition('e.tenant_id = ?', tenantId)),
    // Not bound: the index of listed events is used where the planner sees the same text.
    meaning({ kind: 'listed' }, condition(`e.event_type <> '${SECURITY_EVENT_TYPE}'`)),
  ];
  if (visibility === 'all') return listed;
  const { issuer, subject } = visibility;
  const own = condition('e.creator_issuer = ? AND e.created_by = ?', issuer, subject);
  const means = { kind: 'term', place: 'event', name: 'created_by', text: subject, hot: false, whole: false } as const;
  return [...listed, meaning(means, own)];
}

/**
 * Returns the conditions of a list from the query's filters, apart from those on progress (`progressConditions`);
 * `since` is inclusive, `before` is exclusive.
 * @throws {ApiError} bad_request for an unknown filter or value
 */
export function assetFreeConditions(filters: readonly (readonly [string, string])[]): Condition[] {
  return filterConditions(filters, ([parameter, value]) => {
    const prefix = PREFIXES.find((each) => parameter.startsWith(each));
    if (prefix !== undefined) return attributeCondition({ ...ATTRIBUTES, prefix }, parameter, value);
    if (PROGRESS.includes(parameter)) return undefined;
    const reader = Object.hasOwn(FILTERS, parameter) ? FILTERS[parameter] : undefined;
    if (!reader) throw noSuchFilter(parameter, [...PREFIXES.map((each) => `${each}<name>`), ...ASSET_FREE_FILTERS]);
    return reader(value, parameter);
  });
}
