import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { equalBytes } from '../../core/bytes.js';
import { permits } from '../../iam/access/permits.js';
import { openMeter, quotaReached, roomLeft } from '../../iam/tenancies/quota.js';
import { ApiError, retryLater } from '../../platform/errors.js';
import { type FormFile, readFormFile } from '../../platform/http/form-file.js';
import type { Principal } from '../../platform/http/principal.js';
import { type IdempotencyClaim, idempotencyClaim, keyReused } from '../idempotency/idempotency.js';
import { type EarlierResult, findClaims, takeClaims } from '../idempotency/idempotency-store.js';
import { type Blob, blobObjectKey, blobResponse } from './blob.js';
import type { BlobDeps } from './blob-deps.js';
import { insertBlob } from './blob-store.js';
import { beginUpload, endUpload } from './blob-upload-store.js';
import { LOOKED_AT, mediaType } from './media-type.js';
import { findBlob } from './read-blob.js';

/** The form field that holds the file (docs/design/interface.md#attachments-and-blobs). */
export const FILE_FIELD = 'file';

/** An upload as its route passes it on. */
interface UploadRequest {
  readonly principal: Principal;
  readonly request: IncomingMessage;
  readonly idempotencyKey: string | undefined;
  /** Also stores a file without bytes. */
  readonly mayBeEmpty: boolean;
}

/** Query parameters of an upload. */
export const uploadQuery = z.object({
  allow_empty: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['true', 'false']))
    .optional()
    .meta({
      enum: ['true', 'false'],
      description: 'true: the file may be empty; the request must then have a Content-Length',
    }),
});

/**
 * Stores the file of a form with its metadata. With a repeated Idempotency-Key and the same file, returns the blob of
 * the first request.
 * The bytes are durable before the row; after a crash between the two, the sweep removes them.
 */
export async function uploadBlob(deps: BlobDeps, upload: UploadRequest): Promise<Record<string, unknown>> {
  const { principal } = upload;
  const { tenantId } = principal;
  if (!permits(principal, 'create', { kind: 'blobs', tenantId }))
    throw new ApiError('forbidden', 'This identity may not upload.');
  const earlier = await earlierUpload(deps, upload);
  if (earlier) return answerAgain(deps, upload, earlier);
  const address = { tenantId, blobId: deps.ids.uuid() };
  const stored = await readWithinQuota(deps, tenantId, upload.request, async (file) => {
    await deps.database.inTransaction(scopeOf(tenantId), (tx) => beginUpload(tx, address, new Date(deps.clock.now())));
    return storeFile(deps, address, file, upload.mayBeEmpty);
  });
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
  return blobResponse(await keepBlob(deps, upload, blob));
}

function scopeOf(tenantId: string) {
  return { read: [tenantId], write: [tenantId] };
}

/** Writes the row, unless a request with the same key came first: then its blob is returned. */
async function keepBlob(deps: BlobDeps, upload: UploadRequest, blob: Blob): Promise<Blob> {
  const { tenantId } = blob;
  const claim = claimOf(upload, blob.sha256);
  const earlier = await deps.database.inTransaction(scopeOf(tenantId), async (tx) => {
    const [held] = claim ? await takeClaims(tx, [{ ...claim, resource: blob.blobId }], blob.acceptedAt) : [];
    if (held) return held;
    const meter = await openMeter(tx, deps.quotas, [tenantId], ['blobs', 'blob_bytes']);
    meter?.take(tenantId, { blobs: 1, blob_bytes: blob.size });
    await meter?.save();
    if (!(await endUpload(tx, blob)))
      throw retryLater('unavailable', 'The upload took too long, and its bytes were removed. Send it again.', 1);
    await insertBlob(tx, blob);
    return undefined;
  });
  return earlier ? sameBlob(deps, tenantId, earlier, claim!) : blob;
}

/** What an earlier upload with the same key created, if there was one. */
async function earlierUpload(deps: BlobDeps, upload: UploadRequest): Promise<EarlierResult | undefined> {
  const claim = claimOf(upload, new Uint8Array());
  if (!claim) return undefined;
  const [held] = await deps.database.inTransaction(scopeOf(claim.tenantId), (tx) => findClaims(tx, [claim]));
  return held;
}

/** Reads the file again to compare it with the first one, and stores nothing. */
async function answerAgain(
  deps: BlobDeps,
  upload: UploadRequest,
  earlier: EarlierResult,
): Promise<Record<string, unknown>> {
  const digest = createHash('sha256');
  await readFormFile(upload.request, { field: FILE_FIELD, limit: deps.blobLimit }, async (file) => {
    for await (const _ of hashed(file.content, upload.mayBeEmpty, (chunk) => digest.update(chunk)));
  });
  const claim = claimOf(upload, digest.digest())!;
  return blobResponse(await sameBlob(deps, upload.principal.tenantId, earlier, claim));
}

/** @throws {ApiError} unprocessable when the key was used with another file */
async function sameBlob(
  deps: BlobDeps,
  tenantId: string,
  earlier: EarlierResult,
  claim: IdempotencyClaim,
): Promise<Blob> {
  if (!equalBytes(earlier.bodyHash, claim.bodyHash)) throw keyReused();
  return (await findBlob(deps, { tenantId, blobId: earlier.resource }))!;
}

/** Only the file's bytes are compared: the same file in a form that differs elsewhere is the same upload. */
function claimOf({ principal, idempotencyKey }: UploadRequest, sha256: Uint8Array): IdempotencyClaim | undefined {
  return idempotencyClaim({ principal, path: '/archivist/v1/blobs', rawBody: sha256, idempotencyKey });
}

/**
 * Stops reading the file when the tenancy's quota is exhausted, so that a refused file is rarely stored first. Only if
 * two uploads race for the last space does one of them leave an object to sweep.
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

async function storeFile(
  deps: BlobDeps,
  address: { tenantId: string; blobId: string },
  file: FormFile,
  mayBeEmpty: boolean,
) {
  const key = blobObjectKey(address);
  const digest = createHash('sha256');
  const { size } = await deps.objectStore.putStream(
    key,
    hashed(file.content, mayBeEmpty, (chunk) => digest.update(chunk)),
  );
  const beginning = async (): Promise<Readable> => {
    if (size === 0) return Readable.from([]);
    const range = { first: 0, last: Math.min(size, LOOKED_AT) - 1 };
    return (await deps.objectStore.open(key, range))!;
  };
  const mimeType = await mediaType(file.declaredType, beginning);
  return { size, sha256: new Uint8Array(digest.digest()), mimeType };
}

const EMPTY = `${FILE_FIELD}: is empty. If a retry sent a file that was already read to its end, open the file again. If the file is meant to be empty, send Content-Length and the query parameter allow_empty=true`;

/**
 * A client sends an empty file when it retries an upload from a file that it has already read to the end
 * (docs/design/interface.md#existing-clients).
 */
async function* hashed(
  content: AsyncIterable<Uint8Array>,
  mayBeEmpty: boolean,
  update: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  let empty = true;
  for await (const chunk of content) {
    empty &&= chunk.length === 0;
    update(chunk);
    yield chunk;
  }
  if (empty && !mayBeEmpty) throw new ApiError('bad_request', EMPTY);
}
