import { ApiError } from '../../platform/errors.js';
import { type Condition, condition, meaning, NO_ROW, written } from '../../platform/listing/condition.js';
import { TIME_ORDERS } from '../../platform/listing/list-order.js';
import type { ListDescription } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import { requirePlain } from '../../platform/plain-text.js';
import { attributeCondition, type ReadableAttributes } from '../listing/attribute-condition.js';
import { CONFIRMATION_FILTERS, type EntryColumns } from '../listing/confirmation-filter-store.js';
import { filterConditions } from '../listing/filter-conditions.js';
import { CHAIN_ID } from './asset.js';
import { INDEXED_ATTRIBUTES } from './policy-reach-store.js';

const ATTRIBUTES = { prefix: 'attributes.', indexed: INDEXED_ATTRIBUTES, place: 'attributes' };

/** The event that created the asset `a`, for filters on its progress. */
export const NEW_ASSET_ENTRY: EntryColumns = {
  tenantId: 'a.tenant_id',
  eventId: 'a.new_asset_event_id',
  simpleHash: "(a.proof_mechanism = 'SIMPLE_HASH')",
  among: ({ sql, values }, tenantId) =>
    condition(
      `a.asset_id = ANY (ARRAY(SELECT n.asset_id FROM archivist.asset_event n
        WHERE n.tenant_id = ? AND n.event_id = ANY (ARRAY(${sql}))))`,
      tenantId,
      ...values,
    ),
};

/** Made by `progressConditions`. */
const PROGRESS_FILTER = 'confirmation_status';

const tracked = (text: string, sql: string) =>
  meaning(
    { kind: 'term', place: 'asset', name: 'tracked', text, hot: false, common: true, whole: true },
    condition(sql),
  );
const TRACKING = { tracked: tracked('true', 'a.tracked'), not: tracked('false', 'NOT a.tracked') };
type Tracking = typeof TRACKING;

type Reader = (value: string, parameter: string, tracking: Tracking) => Condition | undefined;

const FILTERS: Readonly<Record<string, Reader>> = {
  tracked: (value, parameter, tracking) =>
    oneOf(parameter, value, {
      TRACKED_STATUS_UNSPECIFIED: tracking.tracked,
      TRACKED: tracking.tracked,
      NOT_TRACKED: tracking.not,
      ANY: undefined,
    }),
  proof_mechanism: proofMechanismCondition,
  chain_id: (value, parameter) => {
    requirePlain(value, parameter);
    return value === CHAIN_ID ? undefined : NO_ROW;
  },
  privacy: (value, parameter) =>
    oneOf(parameter, value, {
      PRIVACY_UNSPECIFIED: undefined,
      RESTRICTED: condition('NOT a.public'),
      PUBLIC: condition('a.public'),
    }),
};

/** The values that `proof_mechanism` accepts. */
export const PROOF_MECHANISM_FILTERS = ['PROOF_MECHANISM_UNSPECIFIED', 'RESERVED1', 'SIMPLE_HASH', 'MERKLE_LOG'];

/** Names of the list's parameters, apart from attributes. */
export const ASSET_FILTERS = ['order_by', PROGRESS_FILTER, ...Object.keys(FILTERS)];

/** The parameters that the OpenAPI documents describe. */
export const ASSET_LIST: ListDescription = {
  attributes: [ATTRIBUTES.prefix],
  values: {
    order_by: TIME_ORDERS,
    confirmation_status: CONFIRMATION_FILTERS,
    tracked: ['TRACKED_STATUS_UNSPECIFIED', 'TRACKED', 'NOT_TRACKED', 'ANY'],
    proof_mechanism: PROOF_MECHANISM_FILTERS,
    privacy: ['PRIVACY_UNSPECIFIED', 'RESTRICTED', 'PUBLIC'],
  },
};

/**
 * Returns the conditions of a list of assets from the query's filters, apart from the one on progress. Untracked assets are left out unless `tracked`
 * says otherwise.
 * @param attributes of the asset, limited to those that this caller may filter by
 * @param readable whether the asset is tracked, where this caller may not know the current value of each
 * @throws {ApiError} bad_request for an unknown filter or value
 */
export function assetConditions(
  filters: readonly (readonly [string, string])[],
  attributes: ReadableAttributes,
  readable?: Condition,
): Condition[] {
  const tracking: Tracking = readable
    ? { tracked: readable, not: written(`NOT (${readable.sql})`, readable) }
    : TRACKING;
  const conditions = filterConditions(filters, ([parameter, value]) => {
    if (parameter.startsWith(ATTRIBUTES.prefix))
      return attributeCondition({ ...ATTRIBUTES, ...attributes }, parameter, value);
    if (parameter === 'order_by' || parameter === PROGRESS_FILTER) return undefined;
    const reader = Object.hasOwn(FILTERS, parameter) ? FILTERS[parameter] : undefined;
    if (!reader) throw noSuchFilter(parameter, [`${ATTRIBUTES.prefix}<name>`, ...ASSET_FILTERS]);
    return reader(value, parameter, tracking);
  });
  if (!filters.some(([parameter]) => parameter === 'tracked')) conditions.push(tracking.tracked);
  return conditions;
}

/** The condition `proof_mechanism=<name>` on the assets `a`. */
export function proofMechanismCondition(value: string, parameter: string): Condition | undefined {
  return oneOf(parameter, value, {
    PROOF_MECHANISM_UNSPECIFIED: undefined,
    RESERVED1: NO_ROW,
    SIMPLE_HASH: condition("a.proof_mechanism = 'SIMPLE_HASH'"),
    MERKLE_LOG: condition("a.proof_mechanism = 'MERKLE_LOG'"),
  });
}

function oneOf<Choice>(parameter: string, value: string, choices: Readonly<Record<string, Choice>>): Choice {
  if (Object.hasOwn(choices, value)) return choices[value]!;
  throw new ApiError('bad_request', `${parameter}: must be one of ${Object.keys(choices).join(', ')}`);
}
