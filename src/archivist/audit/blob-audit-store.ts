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

/** Only two texts of an attachment are read: one may be inside another, 60 levels deep, with a megabyte beside them. */
const ATTACHMENT =
  'strict $.** ? (@.arc_attribute_type == "arc_attachment" && exists(@.arc_blob_identity) && exists(@.arc_blob_hash_value))';

/**
 * The id in an identity; NULL for another one: earlier versions took a list of one identity for an attachment, which nobody
 * can download. A regular expression would take five times as long as all else, and an event can have 2,000 attachments.
 */
const BLOB_ID = `CASE WHEN a.identity #>> '{}' LIKE 'blobs/${'_'.repeat(8)}-____-____-____-${'_'.repeat(12)}'
                        AND translate(substr(a.identity #>> '{}', 7), '0123456789abcdef', '') = '----'
                      THEN substr(a.identity #>> '{}', 7)::uuid END`;

/** @param tenancy the column of the tenancy that has the blobs */
const attachingEvents =
  (table: 'asset_event' | 'asset_free_event', attributes: string, tenancy: string): AttachingEvents =>
  (tx, { tenantId, eventId }, limit) =>
    tx.query<AttachingEvent>(
      `SELECT e.tenant_id AS "tenantId", e.event_id AS "eventId", EXISTS (
                SELECT FROM ROWS FROM (jsonb_path_query(${attributes}, '${ATTACHMENT}.arc_blob_identity'),
                                       jsonb_path_query(${attributes}, '${ATTACHMENT}.arc_blob_hash_value')) a (identity, hash),
                     LATERAL (SELECT ${BLOB_ID} AS blob_id) named
                 WHERE named.blob_id IS NOT NULL
                   AND NOT EXISTS (SELECT FROM archivist.blob b
                                    WHERE b.tenant_id = e.${tenancy} AND b.blob_id = named.blob_id
                                      AND encode(b.sha256, 'hex') = a.hash #>> '{}')) AS lost
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
