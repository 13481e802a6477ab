import { permits } from '../../iam/access/permits.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Blob } from './blob.js';
import type { BlobDeps } from './blob-deps.js';
import { type BlobAddress, findBlobs } from './blob-store.js';

/**
 * Returns a blob to its uploader and to Owners. Everybody else reads it as an attachment of something that they can
 * read.
 * @throws {ApiError} not_found
 */
export async function readOwnBlob(deps: BlobDeps, principal: Principal, blobId: string): Promise<Blob> {
  const blob = await findBlob(deps, { tenantId: principal.tenantId, blobId });
  if (!blob || !permits(principal, 'read', { kind: 'blob', ...blob })) throw noSuchBlob();
  return blob;
}

/** Returns a blob without an access check; the caller has already checked. */
export async function findBlob(deps: BlobDeps, address: BlobAddress): Promise<Blob | undefined> {
  const scope = { read: [address.tenantId], write: [] };
  const [blob] = await deps.database.inTransaction(scope, (tx) => findBlobs(tx, [address]));
  return blob;
}

function noSuchBlob(): ApiError {
  return new ApiError('not_found', 'There is no such blob.');
}
