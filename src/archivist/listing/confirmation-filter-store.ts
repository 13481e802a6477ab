import { ApiError } from '../../platform/errors.js';
import { type Condition, condition, meaning, NO_ROW } from '../../platform/listing/condition.js';
import { FEW_ENTRIES, type LogProgress } from './log-progress-store.js';

const STATUSES = ['PENDING', 'FAILED', 'STORED', 'COMMITTED', 'CONFIRMED', 'UNEQUIVOCAL'];

/** Leaves from `from` on, up to and without `to`. */
interface LeafRange {
  readonly from?: bigint;
  readonly to?: bigint;
}

/** The values that `confirmation_status` and `minimum_trust` accept. */
export const CONFIRMATION_FILTERS: readonly string[] = ['CONFIRMATION_STATUS_UNSPECIFIED', ...STATUSES];

/** SQL of the event whose progress is filtered. Its log is that of the row's own tenancy. */
export interface EntryColumns {
  readonly tenantId: string;
  readonly eventId: string;
  /** True for an event that never goes beyond CONFIRMED; undefined if none of the list does. */
  readonly simpleHash: string | undefined;
  /** True for the rows of the events that a query returns, found by an index. */
  among(query: Condition, tenantId: string): Condition;
}

/**
 * The condition `confirmation_status=<status>`. PENDING and FAILED are never set, so they match nothing
 * (docs/design/interface.md#lists).
 */
export function statusCondition(
  entry: EntryColumns,
  status: string,
  parameter: string,
  log: LogProgress,
): Condition | undefined {
  if (status === 'CONFIRMATION_STATUS_UNSPECIFIED') return undefined;
  if (!STATUSES.includes(status)) throw unknownStatus(parameter);
  if (status === 'STORED') return waiting(entry, log);
  if (status === 'COMMITTED') return leafCondition(entry, log, { from: log.published });
  if (status === 'CONFIRMED') return publishedOnly(entry, log);
  if (status === 'UNEQUIVOCAL') return witnessed(entry, log);
  return NO_ROW;
}

/** The condition `minimum_trust=<status>`: this status or a higher one. */
export function minimumTrustCondition(
  entry: EntryColumns,
  status: string,
  parameter: string,
  log: LogProgress,
): Condition | undefined {
  if (['CONFIRMATION_STATUS_UNSPECIFIED', 'PENDING', 'STORED'].includes(status)) return undefined;
  if (!STATUSES.includes(status)) throw unknownStatus(parameter);
  if (status === 'COMMITTED') return leafCondition(entry, log, {});
  if (status === 'CONFIRMED') return leafCondition(entry, log, { to: log.published });
  if (status === 'UNEQUIVOCAL') return witnessed(entry, log);
  return NO_ROW;
}

/**
 * True for events with a leaf in this range of the tenancy's log. The rows of a short range are found from its leaves;
 * otherwise each row's leaf is looked up, because a scan in list order soon finds one in a long range.
 */
export function leafCondition(entry: EntryColumns, log: LogProgress, range: LeafRange): Condition {
  const { from = 0n, to } = range;
  const length = (to ?? log.leaves) - from;
  if (to !== undefined && length <= 0n) return NO_ROW;
  const inRange = leafInRange(entry, range);
  if (length > FEW_ENTRIES) return inRange;
  return few(entry.among(idsOfLeaves(log, range), log.tenantId), inRange);
}

/**
 * A scalar subquery, which PostgreSQL evaluates for each row that it reads. As a join it is planned from statistics of
 * a log that grows all the time, and read the whole log for a page.
 */
function leafInRange({ tenantId, eventId }: EntryColumns, { from = 0n, to }: LeafRange): Condition {
  const leaf = `(SELECT l.leaf_index FROM archivist.leaf l
    WHERE l.tenant_id = ${tenantId} AND l.log_id = ${tenantId} AND l.entry_id = ${eventId})`;
  if (to === undefined) return condition(`${leaf} >= ?`, `${from}`);
  return from === 0n
    ? condition(`${leaf} < ?`, `${to}`)
    : condition(`${leaf} BETWEEN ? AND ?`, `${from}`, `${to - 1n}`);
}

function idsOfLeaves({ tenantId }: LogProgress, { from = 0n, to }: LeafRange): Condition {
  const before = to === undefined ? condition('') : condition('AND l.leaf_index < ?', `${to}`);
  return condition(
    `SELECT l.entry_id FROM archivist.leaf l WHERE l.tenant_id = ? AND l.log_id = ? AND l.leaf_index >= ? ${before.sql}`,
    tenantId,
    tenantId,
    `${from}`,
    ...before.values,
  );
}

/** An accepted entry stays in the intake of its log until it is committed. */
function waiting({ tenantId, eventId, among }: EntryColumns, log: LogProgress): Condition {
  const waits = `(SELECT count(*) FROM archivist.intake i
    WHERE i.tenant_id = ${tenantId} AND i.log_id = ${tenantId} AND i.entry_id = ${eventId}) = 1`;
  if (!log.fewWait) return condition(waits);
  const ids = 'SELECT i.entry_id FROM archivist.intake i WHERE i.tenant_id = ? AND i.log_id = ?';
  return few(among(condition(ids, log.tenantId, log.tenantId), log.tenantId), condition(waits));
}

function witnessed(entry: EntryColumns, log: LogProgress): Condition {
  if (entry.simpleHash === undefined) return NO_ROW;
  const found = leafCondition(entry, log, { to: log.witnessed });
  return { ...found, sql: `NOT ${entry.simpleHash} AND ${found.sql}` };
}

/** Published, and not witnessed yet or never. */
function publishedOnly(entry: EntryColumns, log: LogProgress): Condition {
  const range = { to: log.published };
  if (entry.simpleHash === undefined) return leafCondition(entry, log, range);
  const published = leafInRange(entry, range);
  const unwitnessed = leafInRange(entry, { from: log.witnessed, ...range });
  const found = both(published, condition(`${unwitnessed.sql} OR ${entry.simpleHash}`, ...unwitnessed.values));
  if (log.published - log.witnessed > FEW_ENTRIES || !log.fewSimpleHash) return found;
  const ids = idsOfLeaves(log, { from: log.witnessed, ...range });
  const simpleHash = 'SELECT h.event_id FROM archivist.simple_hash_event h WHERE h.tenant_id = ?';
  const either = condition(`${ids.sql} UNION ALL ${simpleHash}`, ...ids.values, log.tenantId);
  return few(entry.among(either, log.tenantId), found);
}

function few(narrow: Condition, whole: Condition): Condition {
  return meaning({ kind: 'few' }, both(narrow, whole));
}

function both(left: Condition, right: Condition): Condition {
  return condition(`(${left.sql}) AND (${right.sql})`, ...left.values, ...right.values);
}

function unknownStatus(parameter: string): ApiError {
  return new ApiError('bad_request', `${parameter}: must be one of ${STATUSES.join(', ')}`);
}
