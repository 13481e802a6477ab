import { SECURITY_EVENT_TYPE } from '../../iam/security/security-event.js';
import type { LogRef } from '../../ledger/log.js';
import type { Tx } from '../../platform/postgres/database.js';

/** An event that may have a statement. */
export interface StatedEvent {
  readonly tenantId: string;
  readonly eventId: string;
  /** Those that tell whether it is a vCon operation; null for an event of an asset that cannot be one. */
  readonly attributes: Record<string, unknown> | null;
  /** When it was created, for an asset-free event: each of those has a record. */
  readonly recordedMs: bigint | null;
}

type Place = Pick<StatedEvent, 'tenantId' | 'eventId'>;

/** Reads the next events in the order of their keys, after the given one; fewer than the limit at the end only. */
export type EventPages = (tx: Tx, after: Place, limit: number) => Promise<StatedEvent[]>;

const templateOf = (column: string) =>
  `jsonb_build_object('payload', ${column} -> 'payload', 'payload_hash_alg', ${column} -> 'payload_hash_alg',
                      'subject', ${column} -> 'subject')`;

/**
 * Events of assets. Those that do not look like vCon operations are read too, without attributes: no index knows them, and
 * to look for the next one among many others could take longer than a statement may.
 */
export const eventsOfAssets: EventPages = (tx, { tenantId, eventId }, limit) =>
  tx.query<StatedEvent>(
    `SELECT e.tenant_id AS "tenantId", e.event_id AS "eventId",
            CASE WHEN e.event_attributes ->> 'subject' LIKE 'vcon://%' THEN ${templateOf('e.event_attributes')} END
              AS attributes,
            NULL::bigint AS "recordedMs"
       FROM archivist.asset_event e
      WHERE (e.tenant_id, e.event_id) > ($1, $2)
      ORDER BY e.tenant_id, e.event_id LIMIT $3`,
    [tenantId, eventId, limit],
  );

/** Asset-free events, without those of the security audit, which have no statement. */
export const assetFreeEvents: EventPages = (tx, { tenantId, eventId }, limit) =>
  tx.query<StatedEvent>(
    `SELECT e.tenant_id AS "tenantId", e.event_id AS "eventId", ${templateOf('e.attributes')} AS attributes,
            e.created_at_ms AS "recordedMs"
       FROM archivist.asset_free_event e
      WHERE (e.tenant_id, e.event_id) > ($1, $2) AND e.event_type <> '${SECURITY_EVENT_TYPE}'
      ORDER BY e.tenant_id, e.event_id LIMIT $3`,
    [tenantId, eventId, limit],
  );

/** Which of these entries wait for a log. */
export async function waitingEntryIds(tx: Tx, log: LogRef, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    'SELECT entry_id AS id FROM archivist.intake WHERE tenant_id = $1 AND log_id = $2 AND entry_id = ANY($3::uuid[])',
    [log.tenantId, log.logId, ids],
  );
  return rows.map(({ id }) => id);
}
