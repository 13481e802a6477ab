import { z } from 'zod';
import { toHex } from '../../core/bytes.js';
import { timestampOf } from '../../platform/timestamps.js';

export type ScannedStatus = 'NOT_SCANNED' | 'SCANNED_OK' | 'SCANNED_BAD';

/** The metadata of a stored file. */
export interface Blob {
  readonly tenantId: string;
  readonly blobId: string;
  readonly creatorIssuer: string;
  readonly creatorSubject: string;
  readonly mimeType: string;
  /** In bytes. */
  readonly size: number;
  readonly sha256: Uint8Array;
  readonly acceptedAt: Date;
  readonly scannedStatus: ScannedStatus;
  readonly scannedAt: Date | undefined;
  readonly scannedBadReason: string;
}

export function blobIdentity(blob: { blobId: string }): string {
  return `blobs/${blob.blobId}`;
}

/** The object store key of a blob's bytes. */
export function blobObjectKey(blob: { tenantId: string; blobId: string }): string {
  return `blobs/${blob.tenantId}/${blob.blobId}`;
}

/** The value of `hash`, and of an attachment's `arc_blob_hash_value`. */
export function blobHash(blob: Blob): string {
  return toHex(blob.sha256);
}

/** A blob or attachment in a response. */
export const blobSchema = z.strictObject({
  identity: z.string(),
  hash: z.strictObject({ alg: z.string(), value: z.string() }),
  mime_type: z.string(),
  size: z.int(),
  issuer: z.string(),
  subject: z.string(),
  tenantid: z.string(),
  timestamp_accepted: z.string(),
  scanned_status: z.enum(['NOT_SCANNED', 'SCANNED_OK', 'SCANNED_BAD']),
  scanned_bad_reason: z.string(),
  scanned_reason: z.string(),
  scanned_timestamp: z.string(),
});

/**
 * A blob or attachment as the interface shows it. `anonymous` omits the uploader, as public forms do.
 * The reason for a bad scan is also in `scanned_reason`, where the stock client reads it
 * (docs/design/interface.md#existing-clients).
 */
export function blobResponse(blob: Blob, anonymous = false): Record<string, unknown> {
  return {
    identity: blobIdentity(blob),
    hash: { alg: 'SHA256', value: blobHash(blob) },
    mime_type: blob.mimeType,
    size: blob.size,
    issuer: anonymous ? '' : blob.creatorIssuer,
    subject: anonymous ? '' : blob.creatorSubject,
    tenantid: `tenant/${blob.tenantId}`,
    timestamp_accepted: timestampOf(blob.acceptedAt.getTime()),
    scanned_status: blob.scannedStatus,
    scanned_bad_reason: blob.scannedBadReason,
    scanned_reason: blob.scannedBadReason,
    scanned_timestamp: blob.scannedAt ? timestampOf(blob.scannedAt.getTime()) : '',
  };
}
