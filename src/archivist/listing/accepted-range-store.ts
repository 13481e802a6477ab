import { firstUuidOf } from '../../ledger/uuid-time.js';
import { type Condition, condition, meaning, renderWhere } from '../../platform/listing/condition.js';
import type { Filters } from '../../platform/listing/list-query.js';
import type { Tx } from '../../platform/postgres/database.js';
import { readTimestamp } from '../../platform/timestamps.js';

/** What `archivist.out_of_step` allows between the time in an event's id and the time of its acceptance. */
const STEP_MS = 5000;

/**
 * The range of ids that contains all events `e` of a tenancy that were accepted within the times of these filters, so
 * that a list starts and ends there. Ids have the time at which they were made. The few events whose clock had been
 * changed have an index of their own, and extend the range.
 * @throws {ApiError} bad_request naming the parameter
 */
export async function acceptedRange(tx: Tx, tenantId: string, filters: Filters): Promise<Condition[]> {
  const timesOf = (wanted: string) =>
    filters.flatMap(([name, value]) => (name === wanted ? [readTimestamp(value, name).firstMs] : []));
  const since = timesOf('timestamp_accepted_since');
  const before = timesOf('timestamp_accepted_before');
  if (since.length + before.length === 0) return [];
  const exceptions = await outOfStep(tx, tenantId, [
    ...since.map((time) => condition('e.accepted_at >= ?', new Date(time))),
    ...before.map((time) => condition('e.accepted_at < ?', new Date(time))),
  ]);
  const range: Condition[] = [];
  if (since.length > 0) {
    const first = firstUuidOf(Math.max(...since) - STEP_MS);
    range.push(condition('e.event_id >= ?', exceptions && exceptions.first < first ? exceptions.first : first));
  }
  if (before.length > 0) {
    const last = firstUuidOf(Math.min(...before) + STEP_MS + 1);
    range.push(condition('e.event_id <= ?', exceptions && exceptions.last > last ? exceptions.last : last));
  }
  return range.map((each) => meaning({ kind: 'range' }, each));
}

/** The first and the last of the exceptions that meet the conditions. */
async function outOfStep(
  tx: Tx,
  tenantId: string,
  conditions: readonly Condition[],
): Promise<{ first: string; last: string } | undefined> {
  const where = renderWhere([condition('e.tenant_id = ?', tenantId), ...conditions]);
  const found = (order: string) =>
    `(SELECT e.event_id FROM archivist.asset_event e
       WHERE ${where.sql} AND archivist.out_of_step(e.event_id, e.accepted_at) ORDER BY e.event_id ${order} LIMIT 1)`;
  const [row] = await tx.query<{ first: string | null; last: string | null }>(
    `SELECT ${found('ASC')} AS first, ${found('DESC')} AS last`,
    where.values,
  );
  return row?.first && row.last ? { first: row.first, last: row.last } : undefined;
}
