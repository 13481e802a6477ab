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

/** An asset-free event as the archivist stores it. */
interface EventRow extends SecurityEventRow {
  readonly trails: readonly string[];
  readonly eventType: string;
  readonly creatorIssuer: string;
  readonly createdBy: string;
}

const EVENT = table('asset_free_event').columns<EventRow>({
  tenantId: 'tenant_id',
  eventId: 'event_id',
  attributes: 'attributes',
  trails: 'trails',
  eventType: 'event_type',
  creatorIssuer: 'creator_issuer',
  createdBy: 'created_by',
  createdAtMs: 'created_at_ms',
});

/** An entry that waits for its log, as the ledger stores it. */
interface WaitingRow {
  readonly tenantId: string;
  readonly logId: string;
  readonly entryId: string;
  readonly entryKind: string;
  readonly entryTenantId: string;
}

const WAITING = table('intake').columns<WaitingRow>({
  tenantId: 'tenant_id',
  logId: 'log_id',
  entryId: 'entry_id',
  entryKind: 'entry_kind',
  entryTenantId: 'entry_tenant_id',
});

/** The newest entry of a kind in a tenancy's security audit. */
export async function newestSecurityEvent(
  tx: Tx,
  tenantId: string,
  action: string,
): Promise<{ readonly attributes: Readonly<Record<string, unknown>>; readonly createdAtMs: bigint } | undefined> {
  const [newest] = await tx.query<Pick<SecurityEventRow, 'attributes' | 'createdAtMs'>>(
    `SELECT ${selected(EVENT, 'e', ['attributes', 'createdAtMs'])} FROM archivist.asset_free_event e
      WHERE e.tenant_id = $1 AND e.event_type = '${SECURITY_EVENT_TYPE}' AND e.attributes ->> 'action' = $2
      ORDER BY e.event_id DESC LIMIT 1`,
    [tenantId, action],
  );
  return newest;
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
