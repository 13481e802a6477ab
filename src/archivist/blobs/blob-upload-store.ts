import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { deleteRows } from '../../platform/postgres/rows-by-key.js';
import type { BlobAddress } from './blob-store.js';

const UPLOAD = table('blob_upload').columns<BlobAddress & { readonly begunAt: Date }>({
  tenantId: 'tenant_id',
  blobId: 'blob_id',
  begunAt: 'begun_at',
});

/** Records that bytes of a blob may be stored from now on. */
export async function beginUpload(tx: Tx, { tenantId, blobId }: BlobAddress, now: Date): Promise<void> {
  await insertRows(tx, UPLOAD, [{ tenantId, blobId, begunAt: now }]);
}

/**
 * Ends an upload. Resolves with false when the sweep has already removed it and its bytes; waits for a sweep that is
 * running.
 */
export async function endUpload(tx: Tx, { tenantId, blobId }: BlobAddress): Promise<boolean> {
  return (await deleteRows(tx, UPLOAD, ['tenantId', 'blobId'], { tenantId, blobId })) > 0;
}

/**
 * Locks, until the transaction ends, at most `limit` uploads of any tenancy that began before a time and that nobody
 * else has locked.
 */
export function lockUploads(tx: Tx, before: Date, limit: number): Promise<BlobAddress[]> {
  return tx.query<BlobAddress>(
    `SELECT ${selected(UPLOAD, 'u', ['tenantId', 'blobId'])} FROM archivist.blob_upload u
      WHERE u.begun_at < $1 ORDER BY u.begun_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
    [before, limit],
  );
}
