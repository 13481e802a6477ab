import { ApiError } from '../../platform/errors.js';
import { type Condition, condition } from '../../platform/listing/condition.js';

const STATUSES = ['PENDING', 'FAILED', 'STORED', 'COMMITTED', 'CONFIRMED', 'UNEQUIVOCAL'];

/** The values that `confirmation_status` and `minimum_trust` accept. */
export const CONFIRMATION_FILTERS: readonly string[] = ['CONFIRMATION_STATUS_UNSPECIFIED', ...STATUSES];

/** SQL expressions of the event whose progress is filtered. Its log is that of the row's own tenancy. */
interface EntryColumns {
  readonly tenantId: string;
  readonly eventId: string;
  /** True for an event that never goes beyond CONFIRMED. */
  readonly simpleHash: string;
}

/**
 * The condition `confirmation_status=<status>`. PENDING and FAILED are never set, so they match nothing
 * (docs/design/interface.md#lists).
 */
export function statusCondition(entry: EntryColumns, status: string, parameter: string): Condition | undefined {
  if (status === 'CONFIRMATION_STATUS_UNSPECIFIED') return undefined;
  if (!STATUSES.includes(status)) throw unknownStatus(parameter);
  if (status === 'STORED') return condition(waiting(entry));
  if (status === 'COMMITTED') return condition(`NOT ${waiting(entry)} AND NOT ${published(entry)}`);
  if (status === 'CONFIRMED') return condition(`${published(entry)} AND NOT ${witnessed(entry)}`);
  if (status === 'UNEQUIVOCAL') return condition(witnessed(entry));
  return condition('false');
}

/** The condition `minimum_trust=<status>`: this status or a higher one. */
export function minimumTrustCondition(entry: EntryColumns, status: string, parameter: string): Condition | undefined {
  if (['CONFIRMATION_STATUS_UNSPECIFIED', 'PENDING', 'STORED'].includes(status)) return undefined;
  if (!STATUSES.includes(status)) throw unknownStatus(parameter);
  if (status === 'COMMITTED') return condition(`NOT ${waiting(entry)}`);
  if (status === 'CONFIRMED') return condition(published(entry));
  if (status === 'UNEQUIVOCAL') return condition(witnessed(entry));
  return condition('false');
}

/** An accepted entry stays in the intake of its log until it is committed. */
function waiting(entry: EntryColumns): string {
  return `EXISTS (SELECT FROM archivist.intake i
    WHERE i.tenant_id = ${entry.tenantId} AND i.log_id = ${entry.tenantId} AND i.entry_id = ${entry.eventId})`;
}

function published(entry: EntryColumns): string {
  return `EXISTS (SELECT FROM archivist.leaf l
    JOIN archivist.log g ON g.tenant_id = l.tenant_id AND g.log_id = l.log_id
    JOIN archivist.seal s ON s.tenant_id = g.tenant_id AND s.log_id = g.log_id AND s.seal_number = g.published_number
    WHERE l.tenant_id = ${entry.tenantId} AND l.log_id = ${entry.tenantId} AND l.entry_id = ${entry.eventId}
      AND l.leaf_index < s.leaves)`;
}

function witnessed(entry: EntryColumns): string {
  return `(NOT ${entry.simpleHash} AND EXISTS (SELECT FROM archivist.leaf l
    JOIN archivist.log g ON g.tenant_id = l.tenant_id AND g.log_id = l.log_id
    WHERE l.tenant_id = ${entry.tenantId} AND l.log_id = ${entry.tenantId} AND l.entry_id = ${entry.eventId}
      AND l.leaf_index < g.witnessed_leaves))`;
}

function unknownStatus(parameter: string): ApiError {
  return new ApiError('bad_request', `${parameter}: must be one of ${STATUSES.join(', ')}`);
}
