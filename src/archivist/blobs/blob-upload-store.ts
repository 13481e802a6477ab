import type { Tx } from '../../platform/postgres/database.js';
import type { BlobAddress } from './blob-store.js';

/** Says that bytes of a blob may be stored from now on. */
export async function beginUpload(tx: Tx, { tenantId, blobId }: BlobAddress, now: Date): Promise<void> {
  await tx.execute('INSERT INTO archivist.blob_upload (tenant_id, blob_id, begun_at) VALUES ($1, $2, $3)', [
    tenantId,
    blobId,
    now,
  ]);
}

/** Ends an upload. False when it was given up already, and its bytes with it; one who is at it is waited for. */
export async function endUpload(tx: Tx, { tenantId, blobId }: BlobAddress): Promise<boolean> {
  const ended = await tx.execute('DELETE FROM archivist.blob_upload WHERE tenant_id = $1 AND blob_id = $2', [
    tenantId,
    blobId,
  ]);
  return ended > 0;
}

/** Uploads of any tenancy that began before a time, nobody else's until the transaction ends; at most so many. */
export async function lockUploads(tx: Tx, before: Date, limit: number): Promise<BlobAddress[]> {
  const rows = await tx.query<{ tenant_id: string; blob_id: string }>(
    `SELECT tenant_id, blob_id FROM archivist.blob_upload WHERE begun_at < $1 ORDER BY begun_at LIMIT $2
        FOR UPDATE SKIP LOCKED`,
    [before, limit],
  );
  return rows.map((row) => ({ tenantId: row.tenant_id, blobId: row.blob_id }));
}
