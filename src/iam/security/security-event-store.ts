import type { Tx } from '../../platform/postgres/database.js';
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
  const { issuer, subject } = SECURITY_EVENT_CREATOR;
  await tx.execute(
    `INSERT INTO archivist.asset_free_event (tenant_id, event_id, attributes, trails, event_type, creator_issuer,
       created_by, created_at_ms)
     VALUES ($1, $2, $3::text::jsonb, '[]', $4, $5, $6, $7)`,
    [
      event.tenantId,
      event.eventId,
      JSON.stringify(event.attributes),
      SECURITY_EVENT_TYPE,
      issuer,
      subject,
      event.createdAtMs.toString(),
    ],
  );
  await tx.execute(
    `INSERT INTO archivist.intake (tenant_id, log_id, entry_id, entry_kind, entry_tenant_id)
     VALUES ($1, $1, $2, 'asset_free_event', $1)`,
    [event.tenantId, event.eventId],
  );
}
