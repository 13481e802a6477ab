import type { Tx } from '../../platform/postgres/database.js';
import type { BlobAddress } from '../blobs/blob-store.js';

/** The key of an event. */
interface EventKey {
  readonly tenantId: string;
  readonly eventId: string;
}

/** An event, and whether it attaches a blob that is gone or has another hash. */
interface AttachingEvent extends EventKey {
  readonly lost: boolean;
}

/** Reads the next events in the order of their keys, after the given one; fewer than the limit at the end only. */
type AttachingEvents = (tx: Tx, after: EventKey, limit: number) => Promise<AttachingEvent[]>;

/** Earlier versions took a list of one identity for an attachment, which nobody can download. */
const IDENTITY = '^blobs/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$';

/** @param tenancy the column of the tenancy that has the blobs */
const attachingEvents =
  (table: 'asset_event' | 'asset_free_event', attributes: string, tenancy: string): AttachingEvents =>
  (tx, { tenantId, eventId }, limit) =>
    tx.query<AttachingEvent>(
      `SELECT e.tenant_id AS "tenantId", e.event_id AS "eventId", EXISTS (
                SELECT FROM jsonb_path_query(${attributes}, 'strict $.**') a (part)
                  LEFT JOIN archivist.blob b
                    ON b.tenant_id = e.${tenancy}
                   AND b.blob_id = substring(a.part ->> 'arc_blob_identity' FROM '${IDENTITY}')::uuid
                 WHERE a.part ->> 'arc_attribute_type' = 'arc_attachment' AND a.part ->> 'arc_blob_identity' ~ '${IDENTITY}'
                   AND encode(b.sha256, 'hex') IS DISTINCT FROM a.part ->> 'arc_blob_hash_value') AS lost
         FROM archivist.${table} e
        WHERE (e.tenant_id, e.event_id) > ($1, $2)
        ORDER BY e.tenant_id, e.event_id LIMIT $3`,
      [tenantId, eventId, limit],
    );

export const blobsOfAssetEvents = attachingEvents(
  'asset_event',
  'jsonb_build_array(e.event_attributes, e.asset_attributes)',
  'origin_tenant_id',
);

export const blobsOfAssetFreeEvents = attachingEvents('asset_free_event', 'e.attributes', 'tenant_id');

/** The next blobs in the order of their keys, after the given one; fewer than the limit at the end only. */
export function blobsAfter(tx: Tx, { tenantId, blobId }: BlobAddress, limit: number): Promise<BlobAddress[]> {
  return tx.query<BlobAddress>(
    `SELECT b.tenant_id AS "tenantId", b.blob_id AS "blobId" FROM archivist.blob b
      WHERE (b.tenant_id, b.blob_id) > ($1, $2) ORDER BY b.tenant_id, b.blob_id LIMIT $3`,
    [tenantId, blobId, limit],
  );
}
