import { leafIndex, mmrIndex } from '../../core/mmr/leaf-count.js';
import { ApiError } from '../../platform/errors.js';
import { type Condition, NO_ROW } from '../../platform/listing/condition.js';
import type { Filters } from '../../platform/listing/list-query.js';
import type { Tx } from '../../platform/postgres/database.js';
import { readTimestamp } from '../../platform/timestamps.js';
import {
  type EntryColumns,
  leafCondition,
  minimumTrustCondition,
  statusCondition,
} from './confirmation-filter-store.js';
import { type LogProgress, readLogProgress } from './log-progress-store.js';

type Reader = (entry: EntryColumns, value: string, parameter: string, log: LogProgress) => Condition | undefined;

const READERS: Readonly<Record<string, Reader>> = {
  confirmation_status: statusCondition,
  minimum_trust: minimumTrustCondition,
  mmr_index(entry, value, parameter, log) {
    if (!/^\d{1,18}$/.test(value)) throw new ApiError('bad_request', `${parameter}: must be a number`);
    const index = BigInt(value);
    const leaf = leafIndex(index);
    return mmrIndex(leaf) === index ? leafCondition(entry, log, { from: leaf, to: leaf + 1n }) : NO_ROW;
  },
  timestamp_committed_since: (entry, value, parameter, log) =>
    leafCondition(entry, log, { from: log.committedBefore.get(timeOf(value, parameter))! }),
  timestamp_committed_before: (entry, value, parameter, log) =>
    leafCondition(entry, log, { to: log.committedBefore.get(timeOf(value, parameter))! }),
};

/** The filters on the progress of an event in the log of its tenancy. */
export const PROGRESS_FILTERS: ReadonlySet<string> = new Set(Object.keys(READERS));

/**
 * The conditions of those filters of a list that are on progress. They are made for the log as it is now, so that a
 * short part of it is read from its leaves and a long one in the order of the list.
 * @throws {ApiError} bad_request naming the parameter
 */
export async function progressConditions(
  tx: Tx,
  tenantId: string,
  entry: EntryColumns,
  filters: Filters,
): Promise<Condition[]> {
  const wanted = filters.filter(([name]) => PROGRESS_FILTERS.has(name));
  if (wanted.length === 0) return [];
  const times = wanted.flatMap(([name, value]) => (name.startsWith('timestamp_') ? [timeOf(value, name)] : []));
  const log = await readLogProgress(tx, tenantId, times);
  return wanted.flatMap(([name, value]) => READERS[name]!(entry, value, name, log) ?? []);
}

function timeOf(value: string, parameter: string): number {
  return readTimestamp(value, parameter).firstMs;
}
