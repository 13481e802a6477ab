import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { SECURITY_EVENT_CREATOR, SECURITY_EVENT_TYPE } from './security-event.js';

/** An entry of a tenancy's security audit as it is stored. */
interface SecurityEventRow {
  readonly tenantId: string;
  readonly eventId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly createdAtMs: bigint;
}

/** Writes the entry as an asset-free event, and queues it for the tenancy's log, whose id is the tenancy's. */
export async function insertSecurityEvent(tx: Tx, event: SecurityEventRow): Promise<void> {
  const { tenantId, eventId: entryId } = event;
  const { issuer: creatorIssuer, subject: createdBy } = SECURITY_EVENT_CREATOR;
  await insertRows(tx, EVENT, [{ ...event, trails: [], eventType: SECURITY_EVENT_TYPE, creatorIssuer, createdBy }]);
  await insertRows(tx, WAITING, [
    { tenantId, logId: tenantId, entryId, entryKind: 'asset_free_event', entryTenantId: tenantId },
  ]);
}
