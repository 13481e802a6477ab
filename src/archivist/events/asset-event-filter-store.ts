import { fromHex } from '../../core/bytes.js';
import { shownAddress } from '../../platform/keys/wallet-address.js';
import { type Condition, condition, meaning, NO_ROW, written } from '../../platform/listing/condition.js';
import { TIME_ORDERS } from '../../platform/listing/list-order.js';
import type { ListDescription } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import { requirePlain } from '../../platform/plain-text.js';
import { readTimestamp } from '../../platform/timestamps.js';
import { PROOF_MECHANISM_FILTERS, proofMechanismCondition } from '../assets/asset-filter-store.js';
import { INDEXED_ATTRIBUTES } from '../assets/policy-reach-store.js';
import { attributeCondition, type ReadableAttributes } from '../listing/attribute-condition.js';
import { CONFIRMATION_FILTERS, type EntryColumns } from '../listing/confirmation-filter-store.js';
import { filterConditions } from '../listing/filter-conditions.js';
import { PROGRESS_FILTERS } from '../listing/progress-conditions.js';
import { ITS_ASSET } from './asset-event-visibility-store.js';

/** The event `e`, for filters on its progress. */
export const EVENT_ENTRY: EntryColumns = {
  tenantId: 'e.tenant_id',
  eventId: 'e.event_id',
  // For each row that is read: an EXISTS is planned as a hash of all assets.
  simpleHash: `((SELECT a.proof_mechanism FROM archivist.asset a
    WHERE a.tenant_id = e.tenant_id AND a.asset_id = e.asset_id) = 'SIMPLE_HASH')`,
  among: ({ sql, values }) => condition(`e.event_id = ANY (ARRAY(${sql}))`, ...values),
};
const ITS_ANCHORING = 'FROM archivist.simple_hash_event h WHERE h.tenant_id = e.tenant_id AND h.event_id = e.event_id';

const EVENT_ATTRIBUTES = {
  prefix: 'event_attributes.',
  column: 'e.event_attributes',
  indexed: { subject: 'e.subject', arc_display_type: 'e.display_type' },
  place: 'event_attributes',
};
const CHANGED = { prefix: 'asset_attributes.', indexed: {}, place: 'asset_attributes' };
const OF_ASSET = { prefix: 'asset.attributes.', indexed: INDEXED_ATTRIBUTES, place: 'attributes' };

/** The attributes of the asset `a`, and the changes to them in the event `e`, that a caller may filter by. */
export interface CountedAttributes {
  readonly ofAsset: ReadableAttributes;
  readonly changed: ReadableAttributes;
}

/** For a caller that may read all of them. */
export const EVERY_ATTRIBUTE: CountedAttributes = {
  ofAsset: { column: 'a.attributes' },
  changed: { column: 'e.asset_attributes' },
};

type Reader = (value: string, parameter: string) => Condition | undefined;

const equal =
  (expression: string, place: string, name: string): Reader =>
  (value, parameter) => {
    requirePlain(value, parameter);
    return meaning(
      { kind: 'term', place, name, text: value, hot: false, whole: true },
      condition(`${expression} = ?`, value),
    );
  };

const time =
  (expression: string, comparison: '>=' | '<'): Reader =>
  (value, parameter) =>
    // As text: declared times can be finer than a millisecond.
    condition(`${expression} ${comparison} ?::timestamptz`, readTimestamp(value, parameter).text);

const FILTERS: Readonly<Record<string, Reader>> = {
  operation: equal('e.operation', 'event', 'operation'),
  behaviour: equal('e.behaviour', 'event', 'behaviour'),
  from: (value, parameter) => equal('e.from_address', 'event', 'from')(shownAddress(value), parameter),
  transaction_id: (value, parameter) => transactionCondition(value, parameter),
  proof_mechanism: (value, parameter) => {
    // Verifiers of anchors send this: start from the few events that have anchors, not from all events of the tenancy.
    if (value === 'SIMPLE_HASH') return meaning({ kind: 'indexed' }, condition(`EXISTS (SELECT ${ITS_ANCHORING})`));
    const wanted = proofMechanismCondition(value, parameter);
    return wanted && condition(`${ITS_ASSET} ${wanted.sql})`);
  },
  timestamp_accepted_since: time('e.accepted_at', '>='),
  timestamp_accepted_before: time('e.accepted_at', '<'),
  timestamp_declared_since: time('e.timestamp_declared::timestamptz', '>='),
  timestamp_declared_before: time('e.timestamp_declared::timestamptz', '<'),
  ...Object.fromEntries(
    ['principal_declared', 'principal_accepted'].flatMap((principal) =>
      ['issuer', 'subject', 'display_name', 'email'].map((member) => [
        `${principal}.${member}`,
        equal(`e.${principal} ->> '${member}'`, principal, member),
      ]),
    ),
  ),
};

const PREFIXES = [EVENT_ATTRIBUTES.prefix, CHANGED.prefix, OF_ASSET.prefix];

/** Names of the list's parameters, apart from attributes. */
export const ASSET_EVENT_FILTERS = ['order_by', ...PROGRESS_FILTERS, ...Object.keys(FILTERS)];

/** The parameters that the OpenAPI documents describe. */
export const ASSET_EVENT_LIST: ListDescription = {
  attributes: PREFIXES,
  values: {
    order_by: TIME_ORDERS,
    confirmation_status: CONFIRMATION_FILTERS,
    minimum_trust: CONFIRMATION_FILTERS,
    proof_mechanism: PROOF_MECHANISM_FILTERS,
  },
};

/**
 * Returns the conditions of a list of asset events from the query's filters, apart from those on progress
 * (`progressConditions`); `since` is inclusive, `before` is exclusive.
 * @throws {ApiError} bad_request for an unknown filter or value
 */
export function assetEventConditions(
  filters: readonly (readonly [string, string])[],
  attributes: CountedAttributes,
): Condition[] {
  return filterConditions(filters, (filter) => filterCondition(filter, attributes));
}

function filterCondition(
  [parameter, value]: readonly [string, string],
  { ofAsset, changed }: CountedAttributes,
): Condition | undefined {
  if (parameter.startsWith(EVENT_ATTRIBUTES.prefix)) return attributeCondition(EVENT_ATTRIBUTES, parameter, value);
  if (parameter.startsWith(CHANGED.prefix)) return attributeCondition({ ...CHANGED, ...changed }, parameter, value);
  if (parameter.startsWith(OF_ASSET.prefix)) {
    const wanted = attributeCondition({ ...OF_ASSET, ...ofAsset }, parameter, value);
    const found = written(`${ITS_ASSET} ${wanted.sql})`, wanted);
    return wanted.means?.kind === 'term' ? meaning({ kind: 'parent_term', term: wanted.means }, found) : found;
  }
  if (parameter === 'order_by' || PROGRESS_FILTERS.has(parameter)) return undefined;
  const reader = Object.hasOwn(FILTERS, parameter) ? FILTERS[parameter] : undefined;
  if (!reader) throw noSuchFilter(parameter, [...PREFIXES.map((prefix) => `${prefix}<name>`), ...ASSET_EVENT_FILTERS]);
  return reader(value, parameter);
}

/**
 * Events that this transaction put into the chain: those of its anchor, or those that its seal was the first to cover.
 */
function transactionCondition(value: string, parameter: string): Condition | undefined {
  requirePlain(value, parameter);
  if (value === '') return undefined;
  if (!/^0x[0-9a-f]{64}$/i.test(value)) return NO_ROW;
  return condition(
    // The first part holds for no row or for all, and is evaluated once.
    `(SELECT count(*) FROM archivist.chain_transaction t WHERE t.transaction_hash = ?) > 0 AND
     EXISTS (SELECT FROM archivist.chain_transaction t WHERE t.tenant_id = e.tenant_id AND t.transaction_hash = ? AND (
       (t.kind = 'SIMPLE_HASH' AND EXISTS (SELECT ${ITS_ANCHORING} AND h.anchor_number = t.number))
       OR (t.kind = 'MERKLE_LOG' AND NOT EXISTS (SELECT ${ITS_ANCHORING}) AND EXISTS
         (SELECT FROM archivist.leaf l JOIN archivist.seal s ON s.tenant_id = l.tenant_id AND s.log_id = l.log_id
           WHERE l.tenant_id = e.tenant_id AND l.log_id = e.tenant_id AND l.entry_id = e.event_id
             AND s.seal_number = t.number AND l.leaf_index < s.leaves AND l.leaf_index >= coalesce(
               (SELECT p.leaves FROM archivist.seal p WHERE p.tenant_id = s.tenant_id AND p.log_id = s.log_id
                 AND p.seal_number = s.seal_number - 1), 0)))))`,
    fromHex(value.slice(2)),
    fromHex(value.slice(2)),
  );
}
