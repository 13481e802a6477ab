import type { SearchFilter } from '../../filter/odata.js';
import { type SearchColumns, searchFilterSql } from '../../filter/odata-sql.js';
import type { Visibility } from '../../iam/access/permits.js';
import { SECURITY_EVENT_TYPE } from '../../iam/security/security-event.js';
import { type Condition, condition, renderWhere } from '../../platform/listing/condition.js';
import type { Tx } from '../../platform/postgres/database.js';
import { narrowSearch } from './search-narrowing.js';

/** The position of an event in its tenancy's log; null until it is committed. */
export interface LedgerPlace {
  readonly eventId: string;
  readonly mmrIndex: bigint | null;
  /** 18 hex characters. */
  readonly idtimestamp: string | null;
  /** Hex of the leaf. */
  readonly contentHash: string | null;
}

/** Node index of a leaf: twice its number less the bits set in it (log format 1). */
const MMR_INDEX = '(2 * leaf.leaf_index - bit_count(leaf.leaf_index::bit(64)))';
const IDTIMESTAMP = `'01' || encode(leaf.idtimestamp, 'hex')`;
const NODE = `encode(substring(page.nodes FROM (${MMR_INDEX} % 32)::int * 32 + 1 FOR 32), 'hex')`;

const COLUMNS: SearchColumns = {
  trails: 'e.trails',
  event_type: 'e.event_type',
  origin_tenant: `'tenant/' || e.tenant_id::text`,
  created_by: 'e.created_by',
  created_at: 'e.created_at_ms',
  'ledger_entry/index': MMR_INDEX,
  'ledger_entry/idtimestamp': IDTIMESTAMP,
  'ledger_entry/content_hash': NODE,
};

/** The tenancy's log has the tenancy's id. */
const PLACE_OF_E = `
  LEFT JOIN archivist.leaf ON leaf.tenant_id = e.tenant_id AND leaf.log_id = e.tenant_id AND leaf.entry_id = e.event_id
  LEFT JOIN archivist.node_page page
    ON page.tenant_id = e.tenant_id AND page.log_id = e.tenant_id AND page.page = ${MMR_INDEX} / 32`;
const FROM = `archivist.asset_free_event e ${PLACE_OF_E}`;

/** The parameters of a search. */
interface EventSearch {
  readonly tenantId: string;
  readonly visibility: Visibility;
  /** Undefined for every event. */
  readonly filter: SearchFilter | undefined;
}

function conditionsOf(search: EventSearch): Condition[] {
  const { visibility, filter } = search;
  // The security audit has a list of its own.
  const found = [condition('e.tenant_id = ?', search.tenantId), condition('e.event_type <> ?', SECURITY_EVENT_TYPE)];
  if (visibility !== 'all')
    found.push(condition('e.creator_issuer = ? AND e.created_by = ?', visibility.issuer, visibility.subject));
  if (!filter) return found;
  const { where, values } = searchFilterSql(filter, COLUMNS, () => '?');
  return [...found, ...narrowSearch(filter, search.tenantId), condition(where, ...values)];
}

/** One page of a search, newest first. */
export async function searchPlaces(
  tx: Tx,
  search: EventSearch,
  page: { top: number; skip: number },
): Promise<LedgerPlace[]> {
  const where = renderWhere(conditionsOf(search), 2);
  return tx.query<LedgerPlace & object>(
    `SELECT e.event_id AS "eventId", ${MMR_INDEX} AS "mmrIndex", ${IDTIMESTAMP} AS idtimestamp, ${NODE} AS "contentHash"
       FROM (SELECT e.tenant_id, e.event_id FROM ${FROM} WHERE ${where.sql}
              ORDER BY e.event_id DESC LIMIT $1 OFFSET $2) AS e ${PLACE_OF_E} ORDER BY e.event_id DESC`,
    [page.top, page.skip, ...where.values],
  );
}

/** The total number of events that a search finds. */
export async function countPlaces(tx: Tx, search: EventSearch): Promise<number> {
  const where = renderWhere(conditionsOf(search));
  const [row] = await tx.query<{ count: bigint }>(
    `SELECT count(*) AS count FROM ${FROM} WHERE ${where.sql}`,
    where.values,
  );
  return Number(row!.count);
}
