import type { Tx } from '../../platform/postgres/database.js';
import type { BlobAddress } from './blob-store.js';

/** Records that bytes of a blob may be stored from now on. */
export async function beginUpload(tx: Tx, { tenantId, blobId }: BlobAddress, now: Date): Promise<void> {
  await tx.execute('INSERT INTO archivist.blob_upload (tenant_id, blob_id, begun_at) VALUES ($1, $2, $3)', [
    tenantId,
    blobId,
    now,
  ]);
}

/**
 * Ends an upload. Resolves with false when the sweep has already removed it and its bytes; waits for a sweep that is
 * running.
 */
export async function endUpload(tx: Tx, { tenantId, blobId }: BlobAddress): Promise<boolean> {
  const ended = await tx.execute('DELETE FROM archivist.blob_upload WHERE tenant_id = $1 AND blob_id = $2', [
    tenantId,
    blobId,
  ]);
  return ended > 0;
}

/**
 * Locks, until the transaction ends, at most `limit` uploads of any tenancy that began before a time and that nobody
 * else has locked.
 */
export async function lockUploads(tx: Tx, before: Date, limit: number): Promise<BlobAddress[]> {
  const rows = await tx.query<{ tenant_id: string; blob_id: string }>(
    `SELECT tenant_id, blob_id FROM archivist.blob_upload WHERE begun_at < $1 ORDER BY begun_at LIMIT $2
        FOR UPDATE SKIP LOCKED`,
    [before, limit],
  );
  return rows.map((row) => ({ tenantId: row.tenant_id, blobId: row.blob_id }));
}
