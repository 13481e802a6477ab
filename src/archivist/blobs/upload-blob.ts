import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { permits } from '../../iam/access/permits.js';
import { openMeter, quotaReached, roomLeft } from '../../iam/tenancies/quota.js';
import { ApiError } from '../../platform/errors.js';
import { type FormFile, readFormFile } from '../../platform/http/form-file.js';
import type { Principal } from '../../platform/http/principal.js';
import { type Blob, blobObjectKey, blobResponse } from './blob.js';
import type { BlobDeps } from './blob-deps.js';
import { insertBlob } from './blob-store.js';
import { LOOKED_AT, mediaType } from './media-type.js';

/** The field of the form that holds the file (interface: Blobs). */
export const FILE_FIELD = 'file';

/**
 * Stores the file of a form and what is known of it. The bytes are durable before the row: a crash between leaves an
 * object that nothing names.
 */
export async function uploadBlob(
  deps: BlobDeps,
  principal: Principal,
  request: IncomingMessage,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  if (!permits(principal, 'create', { kind: 'blobs', tenantId }))
    throw new ApiError('forbidden', 'This identity may not upload.');
  const address = { tenantId, blobId: deps.ids.uuid() };
  const stored = await readWithinQuota(deps, tenantId, request, (file) => storeFile(deps, address, file));
  const blob: Blob = {
    ...address,
    ...stored,
    creatorIssuer: principal.issuer,
    creatorSubject: principal.subject,
    acceptedAt: new Date(deps.clock.now()),
    scannedStatus: 'NOT_SCANNED',
    scannedAt: undefined,
    scannedBadReason: '',
  };
  await deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    const meter = await openMeter(tx, deps.quotas, [tenantId], ['blobs', 'blob_bytes']);
    meter?.take(tenantId, { blobs: 1, blob_bytes: blob.size });
    await meter?.save();
    await insertBlob(tx, blob);
  });
  return blobResponse(blob);
}

/**
 * Reads the file no further than the tenancy has room for, so that what a quota refuses is rarely stored first: only when
 * two uploads race for the last room does one of them leave an object that nothing names.
 */
async function readWithinQuota<Stored>(
  deps: BlobDeps,
  tenantId: string,
  request: IncomingMessage,
  store: (file: FormFile) => Promise<Stored>,
): Promise<Stored> {
  const blobs = await roomLeft(deps, tenantId, 'blobs');
  if (blobs < 1) throw quotaReached('blobs', deps.quotas.blobs!);
  const bytes = await roomLeft(deps, tenantId, 'blob_bytes');
  try {
    return await readFormFile(request, { field: FILE_FIELD, limit: Math.min(deps.blobLimit, bytes) }, store);
  } catch (error) {
    const tooLarge = error instanceof ApiError && error.code === 'quota_reached';
    throw tooLarge && bytes < deps.blobLimit ? quotaReached('blob_bytes', deps.quotas.blob_bytes!) : error;
  }
}

async function storeFile(deps: BlobDeps, address: { tenantId: string; blobId: string }, file: FormFile) {
  const key = blobObjectKey(address);
  const digest = createHash('sha256');
  const { size } = await deps.objectStore.putStream(
    key,
    hashed(file.content, (chunk) => digest.update(chunk)),
  );
  const beginning = async (): Promise<Readable> => {
    const range = { first: 0, last: Math.min(size, LOOKED_AT) - 1 };
    return (await deps.objectStore.open(key, range))!;
  };
  const mimeType = await mediaType(file.declaredType, beginning);
  return { size, sha256: new Uint8Array(digest.digest()), mimeType };
}

/** An empty file is what a client sends that repeats an upload from a file already read to its end (client contract 1.1.1). */
async function* hashed(
  content: AsyncIterable<Uint8Array>,
  update: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  let empty = true;
  for await (const chunk of content) {
    empty &&= chunk.length === 0;
    update(chunk);
    yield chunk;
  }
  if (empty) throw new ApiError('bad_request', `${FILE_FIELD}: must not be empty`);
}
