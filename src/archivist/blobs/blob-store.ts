import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { updateRows } from '../../platform/postgres/rows-by-key.js';
import type { Blob, ScannedStatus } from './blob.js';

type BlobRow = Omit<Blob, 'size' | 'scannedAt'> & { readonly size: bigint; readonly scannedAt: Date | null };

const BLOB = table('blob').columns<BlobRow>({
  tenantId: 'tenant_id',
  blobId: 'blob_id',
  creatorIssuer: 'creator_issuer',
  creatorSubject: 'creator_subject',
  mimeType: 'mime_type',
  size: 'size',
  sha256: 'sha256',
  acceptedAt: 'accepted_at',
  scannedStatus: 'scanned_status',
  scannedAt: 'scanned_at',
  scannedBadReason: 'scanned_bad_reason',
});
const COLUMNS = selected(BLOB, 'b');

export interface BlobAddress {
  readonly tenantId: string;
  readonly blobId: string;
}

export async function insertBlob(tx: Tx, blob: Blob): Promise<void> {
  await insertRows(tx, BLOB, [{ ...blob, size: BigInt(blob.size), scannedAt: blob.scannedAt ?? null }]);
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
  const { tenantId, blobId } = blob;
  await updateRows(
    tx,
    BLOB,
    ['tenantId', 'blobId'],
    ['scannedStatus', 'scannedBadReason', 'scannedAt'],
    { tenantId, blobId, scannedStatus: verdict.status, scannedBadReason: verdict.badReason, scannedAt: verdict.at },
    { scannedStatus: 'NOT_SCANNED' },
  );
}

function blobOf(row: BlobRow): Blob {
  return { ...row, size: Number(row.size), scannedAt: row.scannedAt ?? undefined };
}
