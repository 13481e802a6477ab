import type { Tx } from '../../platform/postgres/database.js';
import type { Blob, ScannedStatus } from './blob.js';

interface BlobRow {
  tenant_id: string;
  blob_id: string;
  creator_issuer: string;
  creator_subject: string;
  mime_type: string;
  size: bigint;
  sha256: Uint8Array;
  accepted_at: Date;
  scanned_status: ScannedStatus;
  scanned_at: Date | null;
  scanned_bad_reason: string;
}

const COLUMNS = `b.tenant_id, b.blob_id, b.creator_issuer, b.creator_subject, b.mime_type, b.size, b.sha256, b.accepted_at,
  b.scanned_status, b.scanned_at, b.scanned_bad_reason`;

export interface BlobAddress {
  readonly tenantId: string;
  readonly blobId: string;
}

/** Inserts a blob that has not been scanned yet. */
export async function insertBlob(tx: Tx, blob: Blob): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.blob (tenant_id, blob_id, creator_issuer, creator_subject, mime_type, size, sha256, accepted_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      blob.tenantId,
      blob.blobId,
      blob.creatorIssuer,
      blob.creatorSubject,
      blob.mimeType,
      blob.size,
      blob.sha256,
      blob.acceptedAt,
    ],
  );
}

/** The listed blobs that exist and that the transaction may read, in no particular order. */
export async function findBlobs(tx: Tx, wanted: readonly BlobAddress[]): Promise<Blob[]> {
  if (wanted.length === 0) return [];
  const rows = await tx.query<BlobRow>(
    `SELECT ${COLUMNS} FROM unnest($1::uuid[], $2::uuid[]) AS wanted(tenant_id, blob_id)
       JOIN archivist.blob b USING (tenant_id, blob_id)`,
    [wanted.map((blob) => blob.tenantId), wanted.map((blob) => blob.blobId)],
  );
  return rows.map(blobOf);
}

/** The next unscanned blobs in primary key order, after `after`. */
export async function listNotScanned(tx: Tx, after: BlobAddress | undefined, limit: number): Promise<Blob[]> {
  const behind = after ? 'AND (b.tenant_id, b.blob_id) > ($1::uuid, $2::uuid)' : '';
  const rows = await tx.query<BlobRow>(
    `SELECT ${COLUMNS} FROM archivist.blob b WHERE b.scanned_status = 'NOT_SCANNED' ${behind}
      ORDER BY b.tenant_id, b.blob_id LIMIT ${limit}`,
    after ? [after.tenantId, after.blobId] : [],
  );
  return rows.map(blobOf);
}

/** Stores the result of a scan; the first result is final. */
export async function setScanned(
  tx: Tx,
  blob: BlobAddress,
  verdict: { status: Exclude<ScannedStatus, 'NOT_SCANNED'>; badReason: string; at: Date },
): Promise<void> {
  await tx.execute(
    `UPDATE archivist.blob SET scanned_status = $3, scanned_bad_reason = $4, scanned_at = $5
      WHERE tenant_id = $1 AND blob_id = $2 AND scanned_status = 'NOT_SCANNED'`,
    [blob.tenantId, blob.blobId, verdict.status, verdict.badReason, verdict.at],
  );
}

function blobOf(row: BlobRow): Blob {
  return {
    tenantId: row.tenant_id,
    blobId: row.blob_id,
    creatorIssuer: row.creator_issuer,
    creatorSubject: row.creator_subject,
    mimeType: row.mime_type,
    size: Number(row.size),
    sha256: row.sha256,
    acceptedAt: row.accepted_at,
    scannedStatus: row.scanned_status,
    scannedAt: row.scanned_at ?? undefined,
    scannedBadReason: row.scanned_bad_reason,
  };
}
